import type { Handler } from '../support/helpers.ts'

export const TODAY = Date.parse('2026-01-17T06:00:00Z')
export const DATE = new Date(TODAY).toUTCString()

/** Answers every analytics request with `rows` as text, by endpoint. */
export function platform(
  rows: (path: string, query: URLSearchParams) => string[],
  orgId = (): string | null => 'org/1',
): Handler {
  return (request, response) => {
    const url = new URL(request.url ?? '', 'http://platform')
    response.writeHead(200, {
      'content-type': 'application/json',
      'x-request-id': 'req-1',
      date: DATE,
    })
    const data = rows(url.pathname.split('/').at(-1) ?? '', url.searchParams).join(' ,\n')
    const meta = JSON.stringify({ org_id: orgId() ?? undefined, has_more: false })
    response.end(`{"meta":${meta}, "data":[ ${data} ]}`)
  }
}

export const inRange = (query: URLSearchParams, days: Readonly<Record<string, string>>): string[] =>
  Object.entries(days)
    .filter(([day]) => day >= (query.get('startDate') ?? '') && day <= (query.get('endDate') ?? ''))
    .map(([, row]) => row)
