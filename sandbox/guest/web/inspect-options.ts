import { isArray, min } from './primordials.ts'

/** Characters of one inspected value: beyond it, objects are only named. */
const CONSOLE_ROOM = 65_536
const INSPECT_ROOM = 1_048_576
const MAX_INDENTATION = 200

/** How values are shown; the names are those of `Deno.InspectOptions`. */
export interface Settings {
  readonly depth: number
  readonly colors: boolean
  /** This many inner levels may share a line. `true` is the oldest layout, which has no lines for braces. */
  readonly compact: number | true
  readonly breakLength: number
  readonly iterableLimit: number
  readonly strAbbreviateSize: number
  readonly trailingComma: boolean
  readonly sorted: boolean | ((a: string, b: string) => number)
  readonly getters: boolean | 'get' | 'set'
  readonly showHidden: boolean
  readonly showProxy: boolean
  readonly escapeSequences: boolean
  readonly customInspect: boolean
  /** In the order of preference. */
  readonly quotes: readonly string[]
  readonly indentation: number
  readonly room: number
  /** Whether an error of site code that is asked comes out; else it is shown in its place. */
  readonly throws: boolean
}

export const CONSOLE_SETTINGS: Settings = {
  depth: 4,
  colors: false,
  compact: 3,
  breakLength: 80,
  iterableLimit: 100,
  strAbbreviateSize: 10_000,
  trailingComma: false,
  sorted: false,
  getters: false,
  showHidden: false,
  showProxy: false,
  escapeSequences: true,
  customInspect: true,
  quotes: ['"', "'", '`'],
  indentation: 0,
  room: CONSOLE_ROOM,
  throws: false,
}

/** Reads options as site code gives them. What is missing or makes no sense is as the console has it. */
export function readSettings(options: unknown): Settings {
  const given = (typeof options === 'object' && options !== null ? options : {}) as Readonly<
    Record<string, unknown>
  >
  const fallback = CONSOLE_SETTINGS
  return {
    depth: limit(given['depth'], fallback.depth),
    colors: Boolean(given['colors']),
    compact: readCompact(given['compact']),
    breakLength: limit(given['breakLength'], fallback.breakLength),
    iterableLimit: limit(either(given, 'iterableLimit', 'maxArrayLength'), fallback.iterableLimit),
    strAbbreviateSize: limit(
      either(given, 'strAbbreviateSize', 'maxStringLength'),
      fallback.strAbbreviateSize,
    ),
    trailingComma: Boolean(given['trailingComma']),
    sorted: readSorted(given['sorted']),
    getters: readGetters(given['getters']),
    showHidden: Boolean(given['showHidden']),
    showProxy: Boolean(given['showProxy']),
    escapeSequences: given['escapeSequences'] !== false,
    customInspect: given['customInspect'] !== false,
    quotes: readQuotes(given['quotes']),
    indentation: min(limit(given['indentationLvl'], 0), MAX_INDENTATION),
    room: INSPECT_ROOM,
    throws: true,
  }
}

/** Deno's name of an option, else Node's. */
const either = (given: Readonly<Record<string, unknown>>, deno: string, node: string): unknown =>
  given[deno] === undefined ? given[node] : given[deno]

function readCompact(value: unknown): number | true {
  if (value === undefined) return CONSOLE_SETTINGS.compact
  if (value === true) return true
  return typeof value === 'number' ? value : 0
}

const readSorted = (value: unknown): Settings['sorted'] =>
  typeof value === 'function' ? (value as (a: string, b: string) => number) : Boolean(value)

const readGetters = (value: unknown): Settings['getters'] =>
  value === 'get' || value === 'set' ? value : Boolean(value)

const readQuotes = (value: unknown): readonly string[] =>
  isArray(value) && value.length > 0 ? (value as string[]) : CONSOLE_SETTINGS.quotes

/** `null` is no limit. */
function limit(value: unknown, fallback: number): number {
  if (value === null) return Infinity
  return typeof value === 'number' && value === value ? value : fallback
}
