// Loaded before a command on a stand-in whose days are in the future: its clock begins at BENCH_NOW,
// milliseconds since the epoch.
const ahead = Number(process.env.BENCH_NOW) - Date.now()

globalThis.Date = class extends Date {
  constructor(...parts) {
    if (parts.length === 0) super(globalThis.Date.now())
    else super(...parts)
  }

  static now() {
    return super.now() + ahead
  }
}

Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + ahead })
