import { fetchItems, pathOf, send, withQuery, type Caller, type Served } from '../http/call.ts'
import type { Message, Session, SessionSettingsPatch } from '../resource-types.ts'

export interface OnComputer {
  /** The computer to ask directly. */
  readonly computerId?: string
}

/** Sessions and their messages. The platform lists neither: ids come from elsewhere. */
export class Sessions {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** A session, the answer also exactly as served. */
  async fetch(sessionId: string, { computerId }: OnComputer = {}): Promise<Served<Session>> {
    const path = withQuery(pathOf(SESSION, sessionId), { computerId })
    return fetchItems<Session>(this.#caller, path, 'whole')
  }

  /** A session. @throws ApiError 404 for one that is not known. */
  async get(sessionId: string, on: OnComputer = {}): Promise<Session> {
    return (await this.fetch(sessionId, on)).value
  }

  /** Changes settings; whether what is left out stays as it is, is not documented. Never repeated. */
  async update(sessionId: string, sessionSettings: SessionSettingsPatch): Promise<Session> {
    return send<Session>(this.#caller, 'PATCH', pathOf(SESSION, sessionId), { sessionSettings })
  }

  /** Ends the loop of the agent; nothing happens to an idle session. Never repeated. */
  async interrupt(sessionId: string): Promise<void> {
    await send(this.#caller, 'POST', pathOf(`${SESSION}/interrupt`, sessionId))
  }

  /** A message, the answer also exactly as served. */
  async fetchMessage(
    sessionId: string,
    messageId: string,
    { computerId }: OnComputer = {},
  ): Promise<Served<Message>> {
    const path = withQuery(pathOf(`${SESSION}/messages/{}`, sessionId, messageId), { computerId })
    return fetchItems<Message>(this.#caller, path, 'whole')
  }

  /** A message. @throws ApiError 404 for one that is not known. */
  async message(sessionId: string, messageId: string, on: OnComputer = {}): Promise<Message> {
    return (await this.fetchMessage(sessionId, messageId, on)).value
  }
}

const SESSION = '/api/v0/sessions/{}'
