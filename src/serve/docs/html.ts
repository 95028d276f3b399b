import { grouped } from '../../lib/grouped.ts'
import { counted, withoutMarkup } from '../../lib/text.ts'
import type { CatalogueTable } from '../tables.ts'
import { selfContained } from '../page.ts'
import { lineage, readersOf, type Reads } from './lineage.ts'
import type { Metric } from '../../model/project/shapes.ts'
import type { DocumentedModel, Published, PublishedCheck } from './read.ts'

/**
 * The documentation of the warehouse in one file. The HTML contains everything; the script only
 * searches, and shows one model at a time.
 */
export function docsHtml({ models, metrics }: Documented, published: Published): string {
  const reads: Reads = new Map(
    models.map(({ name, dependsOn, sources }) => [name, [...dependsOn, ...sources]]),
  )
  const metricEntries = metrics.map(({ name, label, description }) => {
    return { id: metricId(name), name: label, description }
  })
  const groups: Group[] = [...groupsOf(models), ['metrics', metricEntries]]
  return selfContained({
    title: 'Warehouse documentation',
    styles: ['report.css', 'docs.css'],
    bodyClass: 'docs',
    body: [
      '<header>',
      '<h1><a href="#">Warehouse documentation</a></h1>',
      `<p class="about">${aboutText(models, published)}</p>`,
      '<label for="search">Search models and columns</label>',
      '<input type="search" id="search" autocomplete="off">',
      '<p id="found" class="about" role="status"></p>',
      '</header>',
      '<nav aria-label="Models">',
      ...groups.map(groupList),
      '</nav>',
      '<main>',
      overview(groups),
      ...models.map((model) => modelSection(model, reads, published)),
      ...metrics.map(metricSection),
      '</main>',
    ],
    script: 'assets/docs.mjs',
  })
}

/** What the documentation describes. */
interface Documented {
  readonly models: readonly DocumentedModel[]
  readonly metrics: readonly Metric[]
}

interface Entry {
  readonly id: string
  readonly name: string
  readonly description: string
}

type Group = readonly [name: string, entries: readonly Entry[]]

/** Folders in order: marts first, because readers look for them. */
function groupsOf(models: readonly DocumentedModel[]): Group[] {
  const groups = grouped(models, ({ file }) =>
    file.split('/').slice(0, -1).join('/').replace('models/', ''),
  )
  const place = (name: string): number => (name.startsWith('marts') ? 0 : 1)
  return [...groups]
    .sort(([a], [b]) => place(a) - place(b) || (a < b ? -1 : 1))
    .map(([group, own]) => [
      group,
      own
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name, description }) => ({ id: name, name, description })),
    ])
}

/** Models have no `-` in their names. */
function metricId(name: string): string {
  return `metric-${name}`
}

function aboutText(models: readonly DocumentedModel[], { build }: Published): string {
  const when = build === null ? '' : `, built ${escaped(build.builtAt.slice(0, 16))} UTC`
  return `${models.length} models, seeds and snapshots${when.replace('T', ' ')}`
}

function groupList([group, entries]: Group): string {
  const items = entries.map(({ id, name }) => `<li><a href="#${id}">${escaped(name)}</a></li>`)
  return `<details${group.startsWith('marts') ? ' open' : ''}><summary>${escaped(group)}</summary><ul>${items.join('')}</ul></details>`
}

function overview(groups: readonly Group[]): string {
  const tables = groups.map(([group, entries]) => {
    const rows = entries.map(
      ({ id, name, description }) =>
        `<tr><th scope="row"><a href="#${id}">${escaped(name)}</a></th><td>${prose(firstSentence(description))}</td></tr>`,
    )
    return `<h3>${escaped(group)}</h3><table><tbody>${rows.join('')}</tbody></table>`
  })
  return `<section id="overview"><h2>All models and metrics</h2>${tables.join('')}</section>`
}

function modelSection(model: DocumentedModel, reads: Reads, published: Published): string {
  const { name, schema, file, materialized, sql } = model
  const relation = `${schema}.${name}`
  const table = published.tables.get(relation)
  const checks = published.checks.get(name) ?? []
  const rows = published.rows.get(relation)
  const key = (table?.key ?? []).map((column) => `<code>${escaped(column)}</code>`)
  const facts = [
    materialized,
    ...(rows === undefined ? [] : [counted(rows, 'row')]),
    ...(key.length === 0 ? [] : [`one row per ${key.join(', ')}`]),
    ...(table === undefined ? ['not in the published warehouse'] : []),
    `<code>${escaped(file)}</code>`,
  ]
  return [
    `<section class="model" id="${name}">`,
    `<h2>${escaped(relation)}</h2>`,
    `<p class="about">${facts.join(' · ')}</p>`,
    `<p>${prose(model.description)}</p>`,
    columnTable(model, table?.columns ?? [], checks),
    checkList(
      checks.filter(({ column_name }) => column_name === null),
      name,
    ),
    '<h3>Lineage</h3>',
    `<p class="lines">Reads: ${links(reads.get(name) ?? [], reads)}.</p>`,
    `<p class="lines">Read by: ${links(readersOf(name, reads), reads)}.</p>`,
    `<div class="lineage" tabindex="0" role="group" aria-label="Lineage of ${name}, as a picture">${lineage(name, reads)}</div>`,
    `<details><summary>SQL</summary><pre tabindex="0">${escaped(sql.trim())}</pre></details>`,
    '</section>',
  ].join('\n')
}

function metricSection(metric: Metric): string {
  const { name, label, unit, description, mistake } = metric
  const code = (text: string): string => `<code>${escaped(text)}</code>`
  const list = (names: readonly string[]): string => names.map(code).join(', ')
  const computed =
    'model' in metric
      ? `${code(metric.expression)} over the rows of <a href="#${metric.model}">${metric.model}</a>, one per ${list(metric.grain)}`
      : `<a href="#${metricId(metric.numerator)}">${metric.numerator}</a> divided by <a href="#${metricId(metric.denominator)}">${metric.denominator}</a>, each over the same rows`
  const over = 'model' in metric ? metric.adds_up_over : []
  return [
    `<section class="model" id="${metricId(name)}">`,
    `<h2>${escaped(label)}</h2>`,
    `<p class="about">${code(name)} · ${escaped(unit)}</p>`,
    `<p>${prose(description)}</p>`,
    '<table><tbody>',
    `<tr><th scope="row">Computed as</th><td>${computed}</td></tr>`,
    `<tr><th scope="row">Adds up over</th><td>${over.length === 0 ? 'nothing: compute it again for the whole' : list(over)}</td></tr>`,
    `<tr><th scope="row">Usual mistake</th><td>${prose(mistake)}</td></tr>`,
    '</tbody></table>',
    '</section>',
  ].join('\n')
}

function columnTable(
  model: DocumentedModel,
  published: CatalogueTable['columns'],
  checks: readonly PublishedCheck[],
): string {
  const rows = model.columns.map(({ name, description }) => {
    const found = published.find((each) => each.name === name)
    const own = checks.filter(({ column_name }) => column_name === name)
    const cells = [
      `<code>${escaped(found?.type.toLowerCase() ?? '')}</code>`,
      escaped(found?.unit ?? ''),
      escaped((found?.additivity ?? '').replaceAll('_', ' ')),
      prose(description),
      own.map((check) => checkText(check, model.name)).join('<br>'),
    ]
    return `<tr><th scope="row"><code>${escaped(name)}</code></th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`
  })
  const heads = ['Column', 'Type', 'Unit', 'Adds up', 'Meaning', 'Checks']
  return `<div class="wide" tabindex="0" role="group" aria-label="Columns of ${model.name}"><table><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

function checkList(checks: readonly PublishedCheck[], model: string): string {
  if (checks.length === 0) return ''
  return `<h3>Checks of the model</h3><ul>${checks.map((check) => `<li>${checkText(check, model)}</li>`).join('')}</ul>`
}

/** `not_null_fct_org_day_org_id` of `fct_org_day`: `not null`, and its last result. */
function checkText({ check_name, status, failures }: PublishedCheck, model: string): string {
  const short = check_name.split(`_${model}_`)[0] ?? check_name
  const rows = failures === null ? '' : `: ${counted(failures, 'row')}`
  const outcome = status === 'pass' ? 'passed' : `${status}${rows}`
  return `${escaped(short.replaceAll('_', ' '))} <span class="${status === 'pass' ? 'good' : 'bad'}">${escaped(outcome)}</span>`
}

function links(names: readonly string[], reads: Reads): string {
  if (names.length === 0) return 'nothing'
  return names
    .map((name) =>
      reads.has(name) ? `<a href="#${name}">${name}</a>` : `<code>${escaped(name)}</code>`,
    )
    .join(', ')
}

function firstSentence(text: string): string {
  return (/^.*?[.:](?=\s|$)/s.exec(text)?.[0] ?? text).replace(/:$/, '.')
}

function prose(text: string): string {
  return escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

function escaped(text: string): string {
  return withoutMarkup(text).replaceAll('"', '&quot;')
}
