import { sections } from './charts.ts'
import type { ReportData } from './data.ts'
import { headlines, trust } from './headlines.ts'
import { rangeName, type View } from './view.ts'
import { dayText, nameText } from './words.ts'

/** The findings of the last 4 weeks in Markdown: for chat, e-mail or the summary of a job. */
export function digest(data: ReportData): string {
  const parts = data.organisations.map((organisation) => {
    const view: View = { organisation, days: 28, team: null, compare: 'previous' }
    const { verdict, notes } = trust(organisation)
    const until =
      organisation.last_day === null
        ? ''
        : `, ${rangeName(view)} to ${dayText(organisation.last_day)}`
    const figures = headlines(view).map(
      ({ label, value, change }) => `| ${label} | ${value} | ${change ?? '–'} |`,
    )
    const findings = sections(data.withPeople)
      .map(({ title, charts }) => {
        const read = charts.map((chart) => chart.read(view))
        const lines = read
          .filter(({ rows }) => rows.length > 0)
          .map((each) => `- ${safe(each.finding)}`)
        return lines.length === 0 ? '' : `**${title}**\n\n${lines.join('\n')}\n`
      })
      .filter((text) => text !== '')
    return [
      `## ${safe(nameText(organisation.org_id, 60))}${until}`,
      `${[verdict, ...notes].join('; ')}.`,
      ['| | | against the period before |', '|---|--:|---|', ...figures].join('\n'),
      ...findings,
    ].join('\n\n')
  })
  const left = data.organisationsInWarehouse - data.organisations.length
  const note = left > 0 ? [`${left} more organisations are in the warehouse.`] : []
  return `${['# Agent usage', ...parts, ...note].join('\n\n').trimEnd()}\n`
}

/** Text in which no served character is Markdown or HTML, and no address becomes a link. */
function safe(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('://', ':&#47;/')
    .replaceAll('www.', 'www&#46;')
    .replaceAll(/[\\`*_[\]|#~!]/g, '\\$&')
    .replaceAll(/\s+/g, ' ')
}
