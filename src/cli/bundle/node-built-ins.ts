import { isBuiltin } from 'node:module'

/** By the first part of the name: what site code has instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  assert: 'throw an Error',
  async_hooks: 'hand values on as arguments',
  buffer: 'use Uint8Array, TextEncoder, btoa and atob',
  child_process: 'no other program can be started: call a service with fetch',
  console: 'use the global console',
  crypto: 'use crypto.subtle, crypto.getRandomValues and crypto.randomUUID',
  dns: 'no names are looked up: call a service with fetch',
  events: 'use EventTarget',
  fs: 'keep files in a bucket, or import a JSON or text file',
  http: 'use fetch, and answer with "export default { fetch }"',
  http2: 'use fetch',
  https: 'use fetch',
  net: 'there are no sockets: use fetch',
  os: 'nothing of the machine is visible',
  path: 'work on strings, or with new URL',
  perf_hooks: 'use the global performance',
  process: 'use ctx.env for variables',
  punycode: 'use new URL, which writes host names in ASCII',
  querystring: 'use URLSearchParams',
  sqlite: 'use a table',
  stream: 'use ReadableStream, WritableStream and TransformStream',
  string_decoder: 'use TextDecoder',
  timers: 'use the global setTimeout and setInterval',
  tls: 'there are no sockets: use fetch',
  url: 'use the global URL and URLSearchParams',
  util: 'use structuredClone, TextEncoder and TextDecoder',
  worker_threads: 'everything runs on one thread: split the work into jobs',
  zlib: 'take a package in plain JavaScript, such as fflate',
}

/** npm packages of the same name that do the same in plain JavaScript. */
const IN_PLAIN_JAVASCRIPT = [
  'assert',
  'buffer',
  'events',
  'punycode',
  'string_decoder',
  'url',
  'util',
]

/** Whether Node brings this module, with or without `node:` before its name. */
export const isNodeBuiltIn = (specifier: string): boolean => isBuiltin(specifier)

/** `"node:fs" is Node's own, which site code does not have: keep files in a bucket, …` */
export function builtInRefusal(specifier: string): string {
  const name = specifier.replace(/^node:/, '').split('/')[0] ?? ''
  const instead = Object.hasOwn(INSTEAD, name) ? INSTEAD[name] : 'do without it'
  const installable = specifier === name && IN_PLAIN_JAVASCRIPT.includes(name)
  const hint = installable
    ? `, or "npm install ${name}", which does the same in plain JavaScript`
    : ''
  return `"${specifier}" is Node's own, and site code has no Node: ${instead}${hint}`
}
