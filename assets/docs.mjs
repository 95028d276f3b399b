// Shows one model at a time, and searches models and columns. Without it, all models are shown.
const search = document.getElementById('search')
const found = document.getElementById('found')
const { title } = document
const sections = [...document.querySelectorAll('main > section')]
const entries = [...document.querySelectorAll('nav li, #overview tr')].map((item) => {
  const name = item.querySelector('a').hash.slice(1)
  return { item, text: textOf(document.getElementById(name)) }
})

// Without its SQL and lineage: a search for a column finds the models that have it.
function textOf(section) {
  const parts = [...section.querySelectorAll('h2, p:not(.lines), th, td')]
  return parts.map((part) => part.textContent.toLowerCase()).join(' ')
}

function nameInAddress() {
  const name = location.hash.slice(1)
  try {
    return decodeURIComponent(name)
  } catch {
    return name // it has a % that encodes nothing
  }
}

function show() {
  const name = nameInAddress()
  const named = sections.find(({ id }) => id === name)
  const shown = named ?? document.getElementById('overview')
  document.title =
    named === undefined ? title : `${named.querySelector('h2').textContent} · ${title}`
  if (search.value === '') {
    const isUnknown = named === undefined && name !== ''
    found.textContent = isUnknown ? `There is no model or metric '${name}'.` : ''
  }
  for (const section of sections) section.hidden = section !== shown
  for (const link of document.querySelectorAll('nav a')) {
    if (link.hash.slice(1) === shown.id) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
  scrollTo(0, 0)
  const self = shown.querySelector('.lineage .self rect')
  if (self === null) return
  const picture = self.closest('.lineage')
  picture.scrollLeft = self.x.baseVal.value - (picture.clientWidth - self.width.baseVal.value) / 2
}

function filter() {
  const words = search.value.toLowerCase().split(/\s+/)
  let models = 0
  for (const { item, text } of entries) {
    const matches = words.every((word) => text.includes(word))
    item.hidden = !matches
    if (matches && item.localName === 'li') models += 1
  }
  for (const group of document.querySelectorAll('nav details')) {
    const isEmpty = group.querySelector('li:not([hidden])') === null
    group.hidden = isEmpty
    if (search.value !== '') group.open = !isEmpty
  }
  found.textContent = search.value === '' ? '' : `${models} found`
  if (search.value !== '' && location.hash !== '') location.hash = ''
}

addEventListener('hashchange', show)
search.addEventListener('input', filter)
show()
