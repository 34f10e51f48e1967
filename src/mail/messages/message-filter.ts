import { invalid } from '#base/app-error.ts'
import { parseTime } from '#base/parse-time.ts'
import { type SearchFilter, type SearchTerm, parseSearch } from '#mail/search/parse-search.ts'

import { type Folder, FOLDERS } from './model.ts'

/** Which of the messages that a reader has access to. */
export interface MessageFilter {
  readonly folders: readonly FolderState[]
  /** Inclusive. */
  readonly from: Date | undefined
  /** Exclusive. */
  readonly until: Date | undefined
  readonly threadId: string | undefined
  readonly seen: boolean | undefined
  readonly search: readonly SearchTerm[]
}

/** A folder, and whether what was deleted from it is meant: only from the trash can anything be. */
export interface FolderState {
  readonly folder: Folder
  readonly deleted: boolean
}

/** What the query of a list may say; the second and third names of a time mean the same as the first. */
export interface MessageQuery {
  readonly folder?: string
  readonly includeDeleted?: string
  readonly startTime?: string
  readonly from?: string
  readonly since?: string
  readonly after?: string
  readonly endTime?: string
  readonly to?: string
  readonly until?: string
  readonly before?: string
  readonly threadId?: string
  readonly seen?: string
  readonly q?: string
}

/** Without a folder: all but the trash, as web mail shows all mail; with `includeDeleted` that, too. */
export function parseMessageFilter(query: MessageQuery): MessageFilter {
  const { terms, filters } = query.q === undefined ? NO_SEARCH : parseSearch(query.q)
  const seen = new Set([parseFlag('seen', query.seen), ...flagsOf(filters)])
  seen.delete(undefined)
  const folders = foldersOf(query, filters)
  return {
    // Nothing is both seen and not.
    folders: seen.size > 1 ? [] : folders,
    ...timesOf(query, filters),
    threadId: query.threadId,
    seen: [...seen][0],
    search: terms,
  }
}

const NO_SEARCH = { terms: [], filters: [] } as const

/** Several folders that a search names are alternatives; the list's own confines them. */
function foldersOf(query: MessageQuery, filters: readonly SearchFilter[]): readonly FolderState[] {
  const folder = query.folder === undefined ? undefined : parseFolder(query.folder)
  const includeDeleted = parseFlag('includeDeleted', query.includeDeleted) ?? false
  const within = filters.filter(({ name }) => name === 'in')
  const namedBy = (isNegated: boolean): readonly Folder[] =>
    within.flatMap(({ value, negated }) => (negated === isNegated ? foldersNamed(value) : []))
  const [wanted, excluded] = [namedBy(false), namedBy(true)]
  const states =
    folder === undefined && wanted.length > 0
      ? [...new Set(wanted)].flatMap((each) => statesOf(each, includeDeleted))
      : statesOf(folder, includeDeleted)
  return states.filter(
    (state) =>
      (wanted.length === 0 || wanted.includes(state.folder)) && !excluded.includes(state.folder),
  )
}

function foldersNamed(value: string): readonly Folder[] {
  if (value.toLowerCase() === 'anywhere') return FOLDERS
  const folder = folderNamed(value)
  if (folder) return [folder]
  const names = [...FOLDERS, 'anywhere'].map((name) => `"in:${name.toLowerCase()}"`).join(', ')
  throw invalid('q', `has "in:${value}"; there are ${names}`)
}

/** `is:unread` and its like. */
function flagsOf(filters: readonly SearchFilter[]): readonly boolean[] {
  return filters
    .filter(({ name }) => name === 'is')
    .map(({ value, negated }) => {
      const isRead = value.toLowerCase() === 'read'
      if (isRead || value.toLowerCase() === 'unread') return isRead !== negated
      throw invalid('q', `has "is:${value}"; there are "is:unread", "is:read"`)
    })
}

/** What is not before a time is from then on. */
function timesOf(
  query: MessageQuery,
  filters: readonly SearchFilter[],
): Pick<MessageFilter, 'from' | 'until'> {
  const from = firstTime(query, ['startTime', 'from', 'since', 'after'])
  const until = firstTime(query, ['endTime', 'to', 'until', 'before'])
  return {
    from: inOrder([from, ...timesNamed(filters, 'after', 'before')]).at(-1),
    until: inOrder([until, ...timesNamed(filters, 'before', 'after')])[0],
  }
}

/** The first of these names that is given: an error names it. */
function firstTime(query: MessageQuery, names: readonly (keyof MessageQuery)[]): Date | undefined {
  const given = names.find((name) => query[name] !== undefined)
  return given === undefined ? undefined : parseTime(given, query[given])
}

/** Also 2026/01/31, as other programs write it. */
const timesNamed = (
  filters: readonly SearchFilter[],
  bound: SearchFilter['name'],
  opposite: SearchFilter['name'],
): readonly (Date | undefined)[] =>
  filters
    .filter(({ name, negated }) => name === (negated ? opposite : bound))
    .map(({ name, value }) => parseTime(`q: ${name}`, value.replaceAll('/', '-')))

const inOrder = (times: readonly (Date | undefined)[]): readonly Date[] =>
  times.filter((time) => time !== undefined).toSorted((one, other) => Number(one) - Number(other))

function statesOf(folder: Folder | undefined, includeDeleted: boolean): readonly FolderState[] {
  const live = (folder === undefined ? FOLDERS : [folder]).filter(
    (each) => each !== 'TRASH' || includeDeleted || folder === 'TRASH',
  )
  const states = live.map((each) => ({ folder: each, deleted: false }))
  return includeDeleted && live.includes('TRASH')
    ? [...states, { folder: 'TRASH', deleted: true }]
    : states
}

function parseFolder(text: string): Folder {
  const folder = folderNamed(text)
  if (!folder) throw invalid('folder', `must be one of ${FOLDERS.join(', ')}`)
  return folder
}

const folderNamed = (text: string): Folder | undefined =>
  FOLDERS.find((name) => name === text.toUpperCase())

function parseFlag(field: string, text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  if (text !== 'true' && text !== 'false') throw invalid(field, 'must be "true" or "false"')
  return text === 'true'
}
