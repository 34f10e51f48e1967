import type { OpenConsole } from '#platform/console/built-console.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const SCRIPT = 'text/javascript; charset=utf-8'

export const CONSOLE_SCRIPT = `export const words = '${'console '.repeat(200)}'`

/** Stands in for the console, which takes a second to build. */
export const testConsole: OpenConsole = async () => ({
  entry: '/-/console/main-AAAAAAAA.js',
  styles: '/-/console/styles-BBBBBBBB.css',
  preloads: ['/-/console/shell-CCCCCCCC.js'],
  files: [
    { path: '/-/console/main-AAAAAAAA.js', contentType: SCRIPT, bytes: bytesOf(CONSOLE_SCRIPT) },
    { path: '/-/console/shell-CCCCCCCC.js', contentType: SCRIPT, bytes: bytesOf('1') },
    {
      path: '/-/console/styles-BBBBBBBB.css',
      contentType: 'text/css; charset=utf-8',
      bytes: bytesOf('#app { color: red }'),
    },
  ],
})
