/** Words that end like a plural, and are none. */
const SINGULAR = new Set(['settings', 'dns', 'status'])
/** What a POST does where the end of its path is no verb. */
const POSTED: Readonly<Record<string, string>> = {
  callback: 'check',
  contact: 'submit',
  deploy: 'receive',
  'mail-reparse': 'start',
  password: 'change',
  secret: 'renew',
  seen: 'mark',
  'super-admin': 'submit',
  user: 'submit',
}
const VERBS: Readonly<Record<string, string>> = { PUT: 'put', PATCH: 'update', DELETE: 'delete' }
/** In the address of a site's own routes, and of the operator's, where its admins are "admin-users". */
const VISITORS = /^\/(?:admin\/data|portal\/api\/sites\/:siteId)\/users(?=\/|$)/
/** What is done with the items of a table and the objects of a bucket. */
const STORE_ACTIONS = /\/data\/(ddb|s3)\/(?=[^/]+$)/

interface Place {
  readonly last: string
  readonly isItem: boolean
}

/**
 * The name of a route for programs, such as `listMailboxes` or `purgeMailbox`, from its method and path alone. The same route of a
 * site and of the operator has one name.
 */
export function operationId(method: string, path: string): string {
  const { ancestors, last, isItem } = partsOf(path)
  if (method === 'POST' && POSTED[last] === undefined && isAction(path, { last, isItem }))
    return camelCase([last, ...objectOf(path)])
  const noun = isItem ? singular(last) : last
  return camelCase([
    verbOf(method, { last: noun, isItem }),
    ...ancestors,
    named(method, noun, isItem),
  ])
}

/** The part of a site that a route is about, such as `mailboxes`. */
export const operationTag = (path: string): string => segmentsOf(path)[0] ?? rootOf(path)

const rootOf = (path: string): string => (path.startsWith('/admin') ? 'admin' : 'sites')

const isAction = (path: string, { last, isItem }: Place): boolean =>
  !isItem && (STORE_ACTIONS.test(path) || !isPlural(last))

function verbOf(method: string, { last, isItem }: Place): string {
  if (method === 'GET') return !isItem && isPlural(last) ? 'list' : 'get'
  if (method === 'POST') return isItem ? 'post' : (POSTED[last] ?? 'create')
  return VERBS[method] ?? method.toLowerCase()
}

/** What is created is one thing of a collection. */
const named = (method: string, noun: string, isItem: boolean): string =>
  method === 'POST' && !isItem ? singular(noun) : noun

function partsOf(path: string) {
  const segments = segmentsOf(path)
  const words = segments.filter((segment) => !isParameter(segment))
  return {
    ancestors: words.slice(0, -1).map(singular),
    last: words.at(-1) ?? singular(rootOf(path)),
    isItem: words.length === 0 || isParameter(segments.at(-1) ?? ''),
  }
}

/** What an action is done to: one thing where its parameter precedes the action. */
function objectOf(path: string): readonly string[] {
  const segments = segmentsOf(path).slice(0, -1)
  const isOne = isParameter(segments.at(-1) ?? '')
  const words = segments.filter((segment) => !isParameter(segment))
  if (words.length === 0) return ['site']
  return words.map((word, index) => (isOne || index < words.length - 1 ? singular(word) : word))
}

/** The path below the part of the surface that it belongs to, and below the site. */
const segmentsOf = (path: string): string[] =>
  path
    .replace(VISITORS, '/admin/data/visitors')
    .replace(STORE_ACTIONS, '/$1/')
    .replace(/^\/(?:admin|portal)(?:\/(?:api|data|public)(?=\/))?/, '')
    .replace(/^\/sites\/:siteId/, '')
    .split('/')
    .filter((segment) => segment !== '')

const isParameter = (segment: string): boolean => segment.startsWith(':')

const isPlural = (word: string): boolean => /[^is]s$/.test(word) && !SINGULAR.has(word)

function singular(word: string): string {
  if (!isPlural(word)) return word
  return word.replace(/(?:(?<=x|s|ch)es|s)$/, '')
}

const camelCase = (words: readonly string[]): string =>
  words
    .flatMap((word) => word.split(/[^a-z0-9]+/i))
    .filter((word) => word !== '')
    .map((word, index) => (index === 0 ? word : `${word[0]?.toUpperCase()}${word.slice(1)}`))
    .join('')
