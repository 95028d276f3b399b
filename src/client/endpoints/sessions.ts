import {
  documented,
  Endpoints,
  fetchItems,
  objectsOf,
  pathOf,
  send,
  sendServed,
  withQuery,
  type Served,
} from '../http/call.ts'
import type { ServedRow } from '../json/envelope.ts'
import type { Message, Session, SessionSettingsPatch, Computer, ComputerMetrics } from '../types.ts'
import { isDay } from '../../lib/day.ts'
import { UsageError } from '../../lib/errors.ts'
import { keptText, parseKept } from '../../lib/json.ts'

/** Where to look for a session. */
export interface OnComputer {
  /** The computer to ask directly. */
  readonly computerId?: string | undefined
}

/** Sessions and their messages. The platform lists neither, so the caller needs their ids. */
export class Sessions extends Endpoints {
  /** A session, with the response exactly as served. */
  async fetch(sessionId: string, { computerId }: OnComputer = {}): Promise<Served<Session>> {
    const path = withQuery(pathOf(SESSION, sessionId), { computerId })
    return fetchItems<Session>(this.caller, path, 'whole')
  }

  /** A session. @throws ApiError 404 for an unknown id. */
  async get(sessionId: string, on: OnComputer = {}): Promise<Session> {
    return (await this.fetch(sessionId, on)).value
  }

  /**
   * A session of which parts are to be sent back by `update`, and its text. Numbers that JavaScript
   * would spell otherwise are marked texts (`parseKept`), which `update` sends as they were served.
   */
  async fetchToChange(
    sessionId: string,
    on: OnComputer = {},
  ): Promise<{ readonly session: Session; readonly text: string }> {
    const { items } = await this.fetch(sessionId, on)
    const text = items[0]?.text ?? '{}'
    return { session: documented(parseKept(text)), text }
  }

  /**
   * Changes settings, and returns the session. It is not documented whether other settings stay.
   * Never retried.
   */
  async update(sessionId: string, sessionSettings: SessionSettingsPatch): Promise<Session> {
    return documented((await this.sendUpdate(sessionId, sessionSettings)).value)
  }

  /** `update`, with the response exactly as served. */
  async sendUpdate(sessionId: string, sessionSettings: SessionSettingsPatch): Promise<ServedRow> {
    const body = keptText({ sessionSettings })
    return sendServed(this.caller, 'PATCH', pathOf(SESSION, sessionId), body)
  }

  /** Ends the loop of the agent; an idle session stays as it is. Never retried. */
  async interrupt(sessionId: string): Promise<void> {
    await send(this.caller, 'POST', pathOf(`${SESSION}/interrupt`, sessionId))
  }

  /** A message, with the response exactly as served. */
  async fetchMessage(
    sessionId: string,
    messageId: string,
    { computerId }: OnComputer = {},
  ): Promise<Served<Message>> {
    const path = withQuery(pathOf(`${SESSION}/messages/{}`, sessionId, messageId), { computerId })
    return fetchItems<Message>(this.caller, path, 'whole')
  }

  /** A message. @throws ApiError 404 for an unknown id. */
  async message(sessionId: string, messageId: string, on: OnComputer = {}): Promise<Message> {
    return (await this.fetchMessage(sessionId, messageId, on)).value
  }
}

const SESSION = '/api/v0/sessions/{}'

/** The highest number of characters in a computer's name (PLATFORM_API, "Limits"). */
export const MAX_COMPUTER_NAME = 63

/** The number of characters in a name; a surrogate pair is one. */
export function lengthOfName(name: string): number {
  return Array.from(name).length
}

/** Which samples of a computer. */
export interface MetricsQuery {
  /** Samples from this time on, ISO 8601 with its zone. */
  readonly start?: string | undefined
}

/** Persistent environments that sessions run in. */
export class Computers extends Endpoints {
  /** All computers of the organisation, exactly as served. */
  fetchAll(): Promise<Served<{ readonly computers: readonly Computer[] }>> {
    return fetchItems(this.caller, COMPUTERS, { key: 'computers' })
  }

  /** All computers of the organisation. */
  async list(): Promise<readonly Computer[]> {
    const response = await this.fetchAll()
    return objectsOf<Computer>(response.items, response)
  }

  /** A computer, with the response exactly as served. */
  fetch(computerId: string): Promise<Served<Computer>> {
    return fetchItems<Computer>(this.caller, pathOf(COMPUTER, computerId), 'whole')
  }

  /** A computer. @throws ApiError 404 for an unknown id. */
  async get(computerId: string): Promise<Computer> {
    return (await this.fetch(computerId)).value
  }

  /** A computer by its name. @throws UsageError for a name that is not of 1 to 63 characters. */
  async getByName(name: string): Promise<Computer> {
    return (await this.fetchByName(name)).value
  }

  /** A computer by its name, with the response exactly as served. */
  async fetchByName(name: string): Promise<Served<Computer>> {
    const length = lengthOfName(name)
    if (length < 1 || length > MAX_COMPUTER_NAME) {
      throw new UsageError(`the name of a computer has 1 to 63 characters, '${name}' has ${length}`)
    }
    return fetchItems<Computer>(this.caller, pathOf(`${COMPUTERS}/name/{}`, name), 'whole')
  }

  /**
   * Installs the dependencies again. Never retried.
   *
   * @throws ApiError 409 if an install is running.
   */
  installDependencies(computerId: string): Promise<Computer> {
    return this.#post<Computer>(computerId, 'install-deps')
  }

  /** Configures credentials and environment again, and returns the number of configured integrations. Never retried. */
  refresh(computerId: string): Promise<{ readonly configured: number }> {
    return this.#post(computerId, 'refresh')
  }

  /** Restarts a managed computer. Never retried. */
  async restart(computerId: string): Promise<void> {
    await this.#post(computerId, 'restart')
  }

  /** Deletes a computer. Never retried. */
  async delete(computerId: string): Promise<void> {
    await send(this.caller, 'DELETE', pathOf(COMPUTER, computerId))
  }

  /** Samples, exactly as served. @throws UsageError for a start that is no time. */
  async fetchMetrics(
    computerId: string,
    { start }: MetricsQuery = {},
  ): Promise<Served<readonly ComputerMetrics[]>> {
    if (start !== undefined && !isTime(start)) {
      throw new UsageError(`start: '${start}' is not a time of ISO 8601 with its zone`)
    }
    const path = withQuery(pathOf(`${COMPUTER}/metrics`, computerId), { start })
    return fetchItems<readonly ComputerMetrics[]>(this.caller, path, 'array')
  }

  /** Samples. @throws UsageError for a start that is no time. */
  async metrics(computerId: string, query: MetricsQuery = {}): Promise<readonly ComputerMetrics[]> {
    const response = await this.fetchMetrics(computerId, query)
    return objectsOf<ComputerMetrics>(response.items, response)
  }

  async #post<T>(computerId: string, action: string): Promise<T> {
    return send<T>(this.caller, 'POST', pathOf(`${COMPUTER}/${action}`, computerId))
  }
}

const COMPUTERS = '/api/v0/computers'
const COMPUTER = `${COMPUTERS}/{}`

/** A time with its zone, which is in the calendar: 25 hours and 30 February are not. */
function isTime(text: string): boolean {
  return ZONED.test(text) && isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text))
}

const ZONED = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/
