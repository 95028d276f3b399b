import { createInterface } from 'node:readline'

/** Asks on the terminal; no answer (Ctrl-C, Ctrl-D, `signal`) is the empty one. */
export function askOnTerminal(question: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const reader = createInterface({ input: process.stdin, output: process.stderr })
    let answer: string | undefined
    const end = (): void => {
      reader.close()
    }
    signal.addEventListener('abort', end, { once: true })
    reader.on('close', () => {
      signal.removeEventListener('abort', end)
      if (answer === undefined) process.stderr.write('\n')
      resolve(answer ?? '')
    })
    reader.question(question, (text) => {
      answer = text
      reader.close()
    })
  })
}
