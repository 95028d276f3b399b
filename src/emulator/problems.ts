import type { ContentfulStatusCode } from 'hono/utils/http-status'

/** A request that the platform answers with a Problem body. */
export class Refusal extends Error {
  readonly status: ContentfulStatusCode
  readonly title: string
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: ContentfulStatusCode,
    title: string,
    detail: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail)
    this.status = status
    this.title = title
    this.headers = headers
  }
}

/** 400: a parameter that the API does not accept. */
export function badRequest(detail: string): Refusal {
  return new Refusal(400, 'Bad Request', detail)
}

/** The Problem body (JSON text) of a refusal; those outside analytics have no request id. */
export function problemBody(refusal: Refusal, requestId?: string): string {
  const { status, title, message } = refusal
  return JSON.stringify({ detail: message, status, title, metadata: {}, requestId })
}
