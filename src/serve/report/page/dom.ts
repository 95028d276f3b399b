type Child = Node | string | null

/** An element with attributes and children. Text is inserted as text, never as HTML. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  made.append(...children.filter((child) => child !== null))
  return made
}

/** A labelled `<select>`, for keyboards and screen readers. */
export function choice(
  label: string,
  options: readonly (readonly [value: string, text: string])[],
  chosen: string,
  onChange: (value: string) => void,
): HTMLElement {
  const select = element(
    'select',
    { 'aria-label': label },
    ...options.map(([value, text]) => {
      const option = element('option', { value }, text)
      option.selected = value === chosen
      return option
    }),
  )
  select.addEventListener('change', () => {
    onChange(select.value)
  })
  return element('label', {}, element('span', {}, label), select)
}

/** A button that saves a text as a file, without a request. */
export function saveButton(label: string, fileName: string, text: () => string): HTMLElement {
  const button = element('button', { type: 'button' }, label)
  button.addEventListener('click', () => {
    const url = URL.createObjectURL(new Blob([text()], { type: 'text/csv;charset=utf-8' }))
    const link = element('a', { href: url, download: fileName })
    link.click()
    URL.revokeObjectURL(url)
  })
  return button
}
