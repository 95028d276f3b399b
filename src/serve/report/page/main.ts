import { sections, type Section } from '../charts.ts'
import type { Cell, Chart } from '../chart.ts'
import type { Organisation } from '../data.ts'
import { headlines, trust, type Headline } from '../headlines.ts'
import {
  comparedName,
  comparedText,
  COMPARISONS,
  RANGES,
  rangeName,
  teamsOf,
  type Comparison,
  type View,
} from '../view.ts'
import {
  amount,
  capital,
  dayText,
  isResidual,
  moreText,
  nameText,
  percent,
  teamText,
} from '../words.ts'
import { choice, element, saveButton } from './dom.ts'
import { DRAWINGS } from './draw.ts'
import { csvName, csvText, isDay, listed, unpack, type TableRow } from './rows.ts'

/** The choices of the reader, kept in the address, so that a link opens the same view. */
interface Choice {
  readonly org: string
  readonly days: number
  readonly team: string
  readonly compare: Comparison
}

const data = unpack(document.getElementById('data')?.textContent ?? '')

function start(main: HTMLElement): void {
  const content = element('div', { class: 'content' })
  const controls = element('form', { class: 'controls', 'aria-label': 'What to show' })
  controls.addEventListener('submit', (event) => {
    event.preventDefault()
  })
  main.replaceChildren(controls, content)
  let chosen = choiceOf(address())
  const show = (change: Partial<Choice>, given?: URLSearchParams): void => {
    chosen = { ...chosen, ...change }
    const own = new URLSearchParams(entriesOf(chosen))
    const lost = lostText(given ?? own)
    history.replaceState(null, '', `#${own.toString()}`)
    const view = viewOf(chosen)
    const focused = [...controls.querySelectorAll('select')].findIndex(
      (select) => select === document.activeElement,
    )
    controls.replaceChildren(...switches(chosen, view, show))
    controls.querySelectorAll('select')[focused]?.focus()
    content.replaceChildren(...(view === null ? [nothing()] : body(view, lost)))
    draw(content, view)
  }
  const showAddress = (): void => {
    show(choiceOf(address()), address())
  }
  showAddress()
  addEventListener('hashchange', showAddress)
  let width = content.clientWidth
  addEventListener('resize', () => {
    if (content.clientWidth === width) return
    width = content.clientWidth
    draw(content, viewOf(chosen))
  })
}

function address(): URLSearchParams {
  return new URLSearchParams(location.hash.slice(1))
}

function choiceOf(given: URLSearchParams): Choice {
  const days = Number(given.get('days'))
  const org = data.organisations.find(({ org_id }) => org_id === given.get('org'))
  return {
    org: (org ?? data.organisations[0])?.org_id ?? '',
    days: RANGES.some(([length]) => length === days) ? days : 91,
    team: given.get('team') ?? '',
    compare: comparisonOf(given.get('compare')),
  }
}

function comparisonOf(given: string | null): Comparison {
  return COMPARISONS.find(([name]) => name === given)?.[0] ?? 'previous'
}

function entriesOf({ org, days, team, compare }: Choice): Record<string, string> {
  return { org, days: String(days), ...(team === '' ? {} : { team }), compare }
}

const PARTS = { org: 'organisation', days: 'period', team: 'team', compare: 'comparison' }

/** Says which parts of an address this report does not have; null if it has all. */
function lostText(given: URLSearchParams): string | null {
  const chosen = choiceOf(given)
  const view = viewOf(chosen)
  const shown = entriesOf({ ...chosen, team: view?.team ?? '' })
  const lost = Object.entries(PARTS).flatMap(([name, part]) => {
    const value = given.get(name) ?? ''
    if (value === '' || value === shown[name]) return []
    const where = name === 'team' && view !== null ? ` in ${rangeName(view)}` : ''
    return [`${part} ${nameText(value)}${where}`]
  })
  if (lost.length === 0) return null
  return `This report has no ${lost.join(', no ')}; the rest is shown.`
}

function viewOf({ org, days, team, compare }: Choice): View | null {
  const organisation = data.organisations.find(({ org_id }) => org_id === org)
  if (organisation === undefined) return null
  const isKnown = teamsOf({ organisation, days }).some((each) => each.team === team)
  return { organisation, days, team: isKnown ? team : null, compare }
}

function switches(
  { days, compare }: Choice,
  view: View | null,
  show: (change: Partial<Choice>) => void,
): HTMLElement[] {
  const names = data.organisations.map(({ org_id }) => [org_id, nameText(org_id)] as const)
  const teams = view === null ? [] : teamsOf(view).map(({ team }) => team ?? '')
  const all = ['', 'Whole organisation'] as const
  const ranges = RANGES.map(([length, name]) => [String(length), name] as const)
  const teamNames = [all, ...teams.map((team) => [team, nameText(team)] as const)]
  const comparisons = COMPARISONS.map(([name, text]) => [name, capital(text)] as const)
  const period = choice('Period', ranges, String(days), (value) => {
    show({ days: Number(value) })
  })
  const organisation = choice('Organisation', names, view?.organisation.org_id ?? '', (org) => {
    show({ org, team: '' })
  })
  const ofTeam = choice('Team', teamNames, view?.team ?? '', (team) => {
    show({ team })
  })
  const comparison = choice('Compare with', comparisons, compare, (value) => {
    show({ compare: comparisonOf(value) })
  })
  return [
    period,
    ...(names.length < 2 ? [] : [organisation]),
    ...(teams.length === 0 ? [] : [ofTeam]),
    comparison,
  ]
}

function nothing(): HTMLElement {
  const text = 'The warehouse holds no organisation yet.'
  return element('header', {}, element('h1', {}, 'Agent usage'), element('p', {}, text))
}

function body(view: View, lost: string | null): HTMLElement[] {
  const { organisation } = view
  const figures = headlines(view)
  return [
    element(
      'header',
      {},
      element('h1', {}, `Agent usage of ${nameText(organisation.org_id, 60)}`),
      element('p', { class: 'period' }, periodText(view)),
    ),
    ...(lost === null ? [] : [element('p', { class: 'trust lost', role: 'status' }, lost)]),
    trustStrip(organisation),
    tiles(figures),
    meanings(figures),
    ...sections(data.withPeople).map((each) => section(each, view)),
    footer(),
  ]
}

/** The charts of a section that have data, and a note about the others. */
function section({ title, charts }: Section, view: View): HTMLElement {
  const read = charts.map((chart) => ({ chart, ...chart.read(view) }))
  const shown = read.filter(({ rows }) => rows.length > 0)
  const others = read.filter(({ rows }) => rows.length === 0)
  return element(
    'section',
    { 'aria-labelledby': `section-${title}` },
    element('h2', { id: `section-${title}` }, title),
    element('div', { class: 'charts' }, ...shown.map((each) => figure(each, view))),
    others.length === 0
      ? null
      : element(
          'ul',
          { class: 'nothing' },
          ...others.map(({ chart, finding }) => element('li', { id: chart.id }, `${finding}.`)),
        ),
  )
}

function periodText(view: View): string {
  const { last_day: last } = view.organisation
  if (last === null) return 'No day of activity is known yet.'
  const team = view.team === null ? '' : `, ${teamName(view.team)}`
  return `${rangeName(view)} to ${dayText(last)}${team}${comparedText(view)}`
}

/** In a sentence: `team data`, `people without a team`. */
function teamName(team: string): string {
  return isResidual(team) ? teamText(team).toLowerCase() : `team ${nameText(team)}`
}

function trustStrip(organisation: Organisation): HTMLElement {
  const { level, verdict, notes } = trust(organisation)
  const marks = { good: '✓', provisional: '◔', bad: '!' }
  return element(
    'p',
    { class: `trust ${level}`, role: 'status' },
    element('span', { class: 'mark', 'aria-hidden': 'true' }, marks[level]),
    element('strong', {}, verdict),
    notes.length === 0 ? null : ` · ${notes.join(' · ')}`,
  )
}

function tiles(figures: readonly Headline[]): HTMLElement {
  return element(
    'dl',
    { class: 'tiles' },
    ...figures.map(({ label, value, change }) =>
      element(
        'div',
        {},
        element('dt', {}, label),
        element('dd', {}, value),
        change === null ? null : element('dd', { class: 'change' }, change),
      ),
    ),
  )
}

function meanings(figures: readonly Headline[]): HTMLElement {
  return element(
    'details',
    {},
    element('summary', {}, 'What these figures mean'),
    ...figures.flatMap(({ label, about }) =>
      'how' in about
        ? [element('p', {}, element('strong', {}, label), `. ${about.how}`)]
        : meaning(about.metric),
    ),
  )
}

function meaning(name: string): HTMLElement[] {
  return data.metrics
    .filter((metric) => metric.name === name)
    .map(({ label, unit, description, basis, mistake }) =>
      element(
        'p',
        {},
        element('strong', {}, label),
        ` (${unit}). ${description} ${basis}. `,
        element('em', {}, 'Usual mistake:'),
        ` ${mistake}`,
      ),
    )
}

/** A title that states the finding, the chart, its table, and how it is computed. */
function figure(
  { chart, finding, rows }: ReturnType<Chart['read']> & { chart: Chart },
  view: View,
): HTMLElement {
  const isDrawn = DRAWINGS.has(chart.id)
  const isCompared = rows.some((row) => (row['compared'] ?? null) !== null)
  const name = chart.compared !== null && isCompared ? comparedName(view) : null
  const compared = name === null ? '' : `; ${chart.compared} in ${name}`
  const ofAll = chart.isOfOrganisation && view.team !== null ? ' · whole organisation' : ''
  return element(
    'figure',
    { id: chart.id, class: isDrawn ? '' : 'wide' },
    element('h3', {}, finding),
    element('p', { class: 'about' }, `${chart.about}${compared}${ofAll}`),
    isDrawn ? element('div', { class: 'drawing', 'data-chart': chart.id }) : null,
    element(
      'details',
      isDrawn ? {} : { open: '' },
      element('summary', {}, 'Table'),
      table(chart, rows),
      saveButton('Save as CSV', csvName(chart.id, view), () => csvText(chart, rows)),
    ),
    element(
      'details',
      {},
      element('summary', {}, 'How it is computed'),
      ...chart.metrics.flatMap((name) => meaning(name)),
      element('p', {}, chart.how),
    ),
  )
}

function table(chart: Chart, rows: readonly TableRow[]): HTMLElement {
  const known = Object.entries(chart.columns).filter(([name]) =>
    rows.some((row) => row[name] !== null),
  )
  const names = known.map(([name]) => name)
  const isNumber = (name: string): boolean => rows.some((row) => typeof row[name] === 'number')
  const headings = known.map(([name, heading]) => {
    return element('th', { scope: 'col', class: isNumber(name) ? 'number' : '' }, heading ?? '')
  })
  const { shown, note } = listed(chart, rows)
  return element(
    'div',
    { class: 'table', tabindex: '0', role: 'region', 'aria-label': `Table: ${chart.about}` },
    element(
      'table',
      {},
      element('thead', {}, element('tr', {}, ...headings)),
      element(
        'tbody',
        {},
        ...shown.map((row) =>
          element('tr', {}, ...names.map((name) => cell(name, row[name] ?? null, isNumber(name)))),
        ),
      ),
    ),
    note === null ? null : element('p', {}, note),
  )
}

function cell(column: string, value: Cell, isNumber: boolean): HTMLElement {
  if (typeof value === 'number') {
    const isShare = /share|retention|stickiness|pass_rate|error/.test(column)
    return element('td', { class: 'number' }, isShare ? percent(value) : amount(value))
  }
  if (typeof value === 'boolean') return element('td', {}, value ? 'yes' : '')
  if (value === null) return element('td', isNumber ? { class: 'number' } : {}, '–')
  return element(
    'td',
    isDay(value) ? { class: 'day' } : {},
    element('bdi', {}, nameText(value, 80)),
  )
}

function footer(): HTMLElement {
  const left = data.organisationsInWarehouse - data.organisations.length
  const more = left > 0 ? ` ${moreText(left)} in the warehouse: --org shows them.` : ''
  const made = `${data.generatedAt.slice(0, 16).replace('T', ' ')} UTC`
  return element(
    'footer',
    {},
    `Made ${made} by agent-warehouse ${data.version}. Teams and cohorts under five people are not shown.${more}`,
  )
}

/** Width of a drawing, in pixels. */
const TALL = 560

/** A hidden page has no width. */
const NARROWEST = 240

function draw(content: HTMLElement, view: View | null): void {
  if (view === null) return
  for (const place of content.querySelectorAll<HTMLElement>('.drawing')) {
    const width = Math.max(place.clientWidth, NARROWEST)
    const drawing = DRAWINGS.get(place.dataset['chart'] ?? '')?.(view, width) ?? null
    place.replaceChildren(...(drawing === null ? [] : [drawing]))
    // Two charts fit beside one this high.
    place.closest('figure')?.classList.toggle('tall', place.clientHeight > TALL)
  }
}

// Last, when everything above is initialised.
const root = document.getElementById('report')
if (root !== null) start(root)
