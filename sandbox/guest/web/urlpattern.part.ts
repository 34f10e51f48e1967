import { URLPattern } from 'urlpattern-polyfill/urlpattern'

import { testPattern } from './primordials.ts'
import { isWebIdlObject, usvString } from './webidl.ts'

/** What a pattern is made of, as the attributes of the global class show it. */
export interface PatternParts {
  readonly protocol: string
  readonly username: string
  readonly password: string
  readonly hostname: string
  readonly port: string
  readonly pathname: string
  readonly search: string
  readonly hash: string
  readonly hasRegExpGroups: boolean
}

export interface ParsedPattern {
  readonly parts: PatternParts
  test(input: unknown, base: unknown): boolean
  exec(input: unknown, base: unknown): object | null
}

interface LibraryPattern extends PatternParts {
  test(...input: readonly unknown[]): boolean
  exec(...input: readonly unknown[]): object | null | undefined
}

type Init = Partial<Record<(typeof MEMBERS)[number], string>>

const MEMBERS = [
  'baseURL',
  'hash',
  'hostname',
  'password',
  'pathname',
  'port',
  'protocol',
  'search',
  'username',
] as const
/** Has nothing that means something in a pattern but an escaped backslash. */
const PLAIN = /^(?:[^{}()*:?+\\]|\\\\)*$/
const SKIPPED = /[\t\n\r]/g
const HOSTNAME_END = /[#/?\\].*$/s
const PORT = /^\d+/

const PatternClass = URLPattern as unknown as new (...args: readonly unknown[]) => LibraryPattern

/** The library, and what it leaves out of the standard: conversions of WebIDL, and what the URL parser skips. */
export function parsePattern(input: unknown, base: unknown, options: unknown): ParsedPattern {
  const baseOrOptions = base === undefined || isWebIdlObject(base) ? base : usvString(base)
  const pattern = new PatternClass(given(input, ofPattern), baseOrOptions, options)
  return {
    parts: pattern,
    test: (asked, beside) => pattern.test(...urlOf(given(asked, asIs), beside)),
    exec(asked, beside) {
      const input = given(asked, asIs)
      const found = pattern.exec(...urlOf(input, beside))
      if (!found) return null
      return { ...found, inputs: beside === undefined ? [input] : [input, usvString(beside)] }
    },
  }
}

/** What is matched: the URL parser would stop at what is no digit of a port. */
function urlOf(input: string | Init, base: unknown): readonly unknown[] {
  const isInit = typeof input === 'object' && input.port !== undefined
  const url = isInit ? { ...input, port: portOf(input.port ?? '') } : input
  return base === undefined ? [url] : [url, usvString(base)]
}

/** A text or a dictionary; nothing is an empty dictionary. */
function given(input: unknown, change: (init: Init) => Init): string | Init {
  if (input !== undefined && !isWebIdlObject(input)) return usvString(input)
  const init: Init = {}
  for (const member of MEMBERS) {
    const value: unknown = isWebIdlObject(input) ? Reflect.get(input, member) : undefined
    if (value !== undefined) init[member] = usvString(value)
  }
  return change(init)
}

function ofPattern(init: Init): Init {
  const { hostname, port } = init
  if (hostname !== undefined && testPattern(PLAIN, hostname))
    init.hostname = hostname.replaceAll(SKIPPED, '').replace(HOSTNAME_END, '')
  if (port !== undefined && testPattern(PLAIN, port)) init.port = portOf(port)
  return init
}

const asIs = (init: Init): Init => init

function portOf(port: string): string {
  const text = port.replaceAll(SKIPPED, '')
  return PORT.exec(text)?.[0] ?? text
}
