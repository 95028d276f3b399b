// The stand-in platform in its own process: prints its address and key, serves until it is killed,
// and returns the requests that it received.
import { startEmulator } from '../dist/emulator/emulator.js'

const [, , users, clock, areSteady, organisations] = process.argv
const emulator = await startEmulator({
  now: clock ? () => Number(clock) : Date.now,
  users: Number(users),
  areSteady: areSteady === 'steady',
  remember: organisations === '1' ? 10_000 : 0,
  organisations: Number(organisations),
})
process.send({
  url: emulator.url,
  key: emulator.keys.owner,
  keys: Array.from({ length: Number(organisations) }, (_, at) => emulator.keysOf(at + 1).owner),
})
process.on('message', (asked) => {
  const { user, system } = process.cpuUsage()
  process.send(
    asked === 'seconds' ? (user + system) / 1e6 : emulator.requests.map(({ path }) => path),
  )
})
process.on('disconnect', () => process.exit())
