import { ENDPOINTS, problemTitle, requestTitle, STATUSES } from './specification/endpoints.ts'
import { HOOK_INPUTS, hookTitle } from './specification/hooks.ts'
import { RULES } from './specification/rules.ts'
import { SECTIONS } from './specification/sections.ts'
import { fieldsOf } from './specification/section.ts'

/** One row of the page. */
interface PageRow {
  readonly specified: string
  readonly file: string
  readonly test: string
}

const FIELDS = 'test/coverage/fields.deep.ts'
const CALLS = 'test/coverage/endpoints.test.ts'

const INTRODUCTION = `# Tests that cover the platform's specification

Made by \`npm run docs:coverage\` from the data in test/coverage/specification. A test fails when this page differs from the data, or when a test that is named here does not exist. Every test here covers the client or the warehouse; none covers the stand-in platform alone.`

/** The rows of docs/api-coverage.md by their heading. */
export function pageRows(): ReadonlyMap<string, readonly PageRow[]> {
  const rows = new Map<string, PageRow[]>()
  for (const section of SECTIONS) {
    const { heading } = section
    rows.set(
      `Fields: ${heading}`,
      fieldsOf(section).map(({ path, type, title }) => ({
        specified: `\`${path}\`: ${type}`,
        file: FIELDS,
        test: `${heading} › ${title}`,
      })),
    )
  }
  rows.set('Endpoints', endpointRows())
  for (const [heading, rules] of Object.entries(RULES)) {
    rows.set(
      heading,
      rules.flatMap(({ rule, file, tests }) =>
        tests.map((test) => ({ specified: rule, file, test })),
      ),
    )
  }
  const hooks = HOOK_INPUTS.map((input) => ({
    specified: `\`${input.hook_event_name}\`: ${Object.keys(input).join(', ')}`,
    file: FIELDS,
    test: `hook events › ${hookTitle(input)}`,
  }))
  return rows.set('Hook events', [...hooks, ...(rows.get('Hook events') ?? [])])
}

function endpointRows(): PageRow[] {
  return ENDPOINTS.flatMap((endpoint, index) => {
    const { method, path, query, status } = endpoint
    const isFirst =
      ENDPOINTS.findIndex((each) => each.method === method && each.path === path) === index
    const name = `\`${method} ${path}\``
    const parts = [`${status}`, ...Object.keys(query).map((each) => `\`${each}\` in the query`)]
    const test = requestTitle(endpoint)
    return [
      ...parts.map((part) => ({ specified: `${name}: ${part}`, file: CALLS, test })),
      ...STATUSES.filter(() => isFirst).map((each) => ({
        specified: `${name}: Problem body of ${each}`,
        file: CALLS,
        test: problemTitle(endpoint, each),
      })),
    ]
  })
}

/** docs/api-coverage.md. */
export function page(): string {
  const sections = [...pageRows()].map(([heading, rows]) =>
    [
      `## ${heading}`,
      '',
      '| As specified | Test |',
      '|---|---|',
      ...rows.map(({ specified, file, test }) => `| ${specified} | ${file}: ${test} |`),
    ].join('\n'),
  )
  return `${[INTRODUCTION, ...sections].join('\n\n')}\n`
}

/** The texts that table-driven tests put into their titles. */
export function titlesMade(): ReadonlySet<string> {
  return new Set([
    ...SECTIONS.flatMap((section) => [
      section.heading,
      ...fieldsOf(section).map(({ title }) => title),
    ]),
    ...ENDPOINTS.flatMap((each) => [
      requestTitle(each),
      ...STATUSES.map((status) => problemTitle(each, status)),
    ]),
    ...HOOK_INPUTS.map(hookTitle),
  ])
}
