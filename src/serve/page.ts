import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../lib/package.ts'

interface Page {
  readonly title: string
  /** Files of `assets/`, in order. */
  readonly styles: readonly string[]
  readonly bodyClass?: string
  /** HTML. */
  readonly body: readonly string[]
  /** A file of the package that runs after the body was read. */
  readonly script: string
}

/**
 * A page in one file. Its content security policy forbids every request, and every script but
 * its own.
 */
export function selfContained({ title, styles, bodyClass, body, script }: Page): string {
  const file = (...path: string[]): string => readFileSync(join(packageRoot, ...path), 'utf8')
  const program = file(script)
  const sha256 = createHash('sha256').update(program).digest('base64')
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${sha256}'`
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${title}</title>`,
    `<style>${styles.map((name) => file('assets', name)).join('')}</style>`,
    '</head>',
    bodyClass === undefined ? '<body>' : `<body class="${bodyClass}">`,
    ...body,
    `<script>${program}</script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n')
}
