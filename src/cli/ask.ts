import { createInterface } from 'node:readline'

/** Asks on the terminal; no answer (Ctrl-C, Ctrl-D, `signal`) is the empty one. */
export function askOnTerminal(question: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const reader = createInterface({ input: process.stdin, output: process.stderr })
    const end = (): void => {
      reader.close()
    }
    signal.addEventListener('abort', end, { once: true })
    reader.on('close', () => {
      signal.removeEventListener('abort', end)
      resolve('')
    })
    reader.question(question, (answer) => {
      resolve(answer)
      reader.close()
    })
  })
}
