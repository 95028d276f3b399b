import type { Channel, HooksConfig } from './config.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The environment variables that a channel's secrets are in. */
export function variablesOf(channel: Channel): readonly string[] {
  switch (channel.type) {
    case 'team-chat':
      return [channel.url_env]
    case 'webhook':
      return channel.secret_env === undefined
        ? [channel.url_env]
        : [channel.url_env, channel.secret_env]
    case 'email':
      return channel.password_env === undefined ? [] : [channel.password_env]
    case 'desktop':
    case 'sound':
      return []
  }
}

/** What the configuration names and this environment has not, or has empty. */
export function missingVariables(
  { channels }: Pick<HooksConfig, 'channels'>,
  environment: Environment,
): { readonly channel: string; readonly variable: string }[] {
  return Object.entries(channels).flatMap(([name, channel]) =>
    variablesOf(channel)
      .filter((variable) => (environment[variable] ?? '').trim() === '')
      .map((variable) => ({ channel: name, variable })),
  )
}
