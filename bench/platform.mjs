// The stand-in platform in a process of its own: tells its address and key, serves until killed,
// and tells what it was asked for when it is asked for that.
import { startEmulator } from '../dist/emulator/emulator.js'

const [, , users, clock, areSteady] = process.argv
const emulator = await startEmulator({
  now: clock ? () => Number(clock) : Date.now,
  users: Number(users),
  areSteady: areSteady === 'steady',
  remember: 10_000,
})
process.send({ url: emulator.url, key: emulator.keys.owner })
process.on('message', () => process.send(emulator.requests.map(({ path }) => path)))
process.on('disconnect', () => process.exit())
