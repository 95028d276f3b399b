// README's picture of peers: one bar for each tool, by the CPU seconds of landing and of building.

const [WIDTH, NAMES, BAR, GAP, TOP] = [720, 210, 18, 8, 34]
const LONGEST = WIDTH - NAMES - 70
const STYLE = `text{font:13px system-ui,sans-serif;fill:#24292f}.title{font-weight:600}rect{fill:#8c959f}.ours{fill:#0969da}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}rect{fill:#6e7681}.ours{fill:#58a6ff}}`

export function pictureOf({ landing, building }) {
  const groups = [
    {
      title: `CPU seconds to load ${landing.served.toLocaleString('en')} rows`,
      tools: landing.tools,
    },
    {
      title: `CPU seconds to build all models, ${building.rows.toLocaleString('en')} user days`,
      tools: building.tools,
    },
  ]
  let y = 0
  const drawn = groups.map(({ title, tools }) => {
    const text = groupOf(title, tools, y)
    y += TOP + tools.length * (BAR + GAP) + 14
    return text
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" role="img" aria-label="CPU seconds of each tool; shorter is better">
<style>${STYLE}</style>
${drawn.join('\n')}
</svg>
`
}

function groupOf(title, tools, top) {
  const most = Math.max(...tools.map(({ cpuSeconds }) => cpuSeconds))
  const bars = tools.map(({ name, cpuSeconds }, at) => {
    const y = top + TOP + at * (BAR + GAP)
    const width = Math.max(1, (cpuSeconds / most) * LONGEST)
    const kind = name === 'agent-warehouse' ? ' class="ours"' : ''
    return [
      `<text x="${NAMES - 10}" y="${y + 14}" text-anchor="end">${name}</text>`,
      `<rect x="${NAMES}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" rx="2"${kind}/>`,
      `<text x="${(NAMES + width + 8).toFixed(1)}" y="${y + 14}">${cpuSeconds.toFixed(1)}</text>`,
    ].join('\n')
  })
  return [`<text class="title" x="0" y="${top + 18}">${title}</text>`, ...bars].join('\n')
}
