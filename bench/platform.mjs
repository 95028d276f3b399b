// The stand-in platform in a process of its own: prints its address and key, serves until killed.
import { startEmulator } from '../dist/emulator/emulator.js'

const [, , users, clock] = process.argv
const emulator = await startEmulator({
  now: clock ? () => Number(clock) : Date.now,
  users: Number(users),
  remember: 0,
})
process.send({ url: emulator.url, key: emulator.keys.owner })
process.on('disconnect', () => process.exit())
