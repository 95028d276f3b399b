// The stand-in platform in a process of its own: prints its address and key, serves until killed.
import { startEmulator } from '../dist/emulator/emulator.js'

const emulator = await startEmulator({
  now: Date.now,
  users: Number(process.argv[2]),
  remember: 0,
})
process.send({ url: emulator.url, key: emulator.keys.owner })
process.on('disconnect', () => process.exit())
