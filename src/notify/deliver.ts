import { refused, type Attempt, type Delivery, type Message } from './attempt.ts'
import { missingIn, type Channel } from './channels.ts'
import { sendToChat, sendToWebhook } from './http.ts'
import { play, showOnDesktop } from './local.ts'

/** Makes one attempt to deliver a message. Never throws. */
export async function deliver(
  channel: Channel,
  message: Message,
  delivery: Delivery,
): Promise<Attempt> {
  const [variable] = missingIn(channel, delivery.environment)
  if (variable !== undefined) {
    return refused(`${variable} is not set in the environment that the agent runs its hooks in`)
  }
  switch (channel.type) {
    case 'desktop':
      return showOnDesktop(message, delivery)
    case 'sound':
      return play(channel, delivery)
    case 'team-chat':
      return sendToChat(channel, message, delivery)
    case 'webhook':
      return sendToWebhook(channel, message, delivery)
    case 'email': {
      // Imported only for an e-mail, because the library is larger than everything else.
      const { sendEmail } = await import('./email.ts')
      return sendEmail(channel, message, delivery)
    }
  }
}
