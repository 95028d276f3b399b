import { lackOf, refused, type Attempt, type Delivery } from './attempt.ts'
import type { Channel } from './config.ts'
import { sendToChat, sendToWebhook } from './http.ts'
import { play, showOnDesktop } from './local.ts'
import type { Notification } from './outbox.ts'

/** Tries once to deliver a notification. Never throws. */
export async function deliver(
  channel: Channel,
  item: Notification,
  delivery: Delivery,
): Promise<Attempt> {
  const [variable] = lackOf(channel, delivery.environment)
  if (variable !== undefined) {
    return refused(`${variable} is not set in the environment that the agent runs its hooks in`)
  }
  switch (channel.type) {
    case 'desktop':
      return showOnDesktop(item, delivery)
    case 'sound':
      return play(channel, delivery)
    case 'team-chat':
      return sendToChat(channel, item, delivery)
    case 'webhook':
      return sendToWebhook(channel, item, delivery)
    case 'email': {
      // Loaded where an e-mail is sent: it is larger than all the rest.
      const { sendEmail } = await import('./smtp.ts')
      return sendEmail(channel, item, delivery)
    }
  }
}
