import { AppError, invalid } from '#base/app-error.ts'

type RequestFields = Readonly<Record<string, unknown>>

/** Fields of inputs that hold a key or the beginning of one. */
const KEY_FIELDS = ['key', 'startAfter']

/** What callers' keys begin with, and they never see. */
export function ownFolder({ prefix }: { readonly prefix: string }, sub: string): string {
  if (sub !== '' && sub !== '.' && sub !== '..' && !sub.includes('/')) return `${prefix}${sub}/`
  throw new AppError('Forbidden', 'Your account has no folder of its own here')
}

/** The same input inside the caller's folder. */
export function insideFolder(
  folder: string,
  action: string,
  request: RequestFields,
): RequestFields {
  const input = new Map(Object.entries(request))
  for (const field of KEY_FIELDS) {
    const value = input.get(field)
    if (typeof value === 'string') input.set(field, folder + checkedPath(field, value))
  }
  if (action === 'list-objects') {
    const prefix = input.get('prefix')
    input.set('prefix', folder + (typeof prefix === 'string' ? checkedPath('prefix', prefix) : ''))
  }
  return Object.fromEntries(input)
}

/** The answer with keys as the caller names them. */
export function outsideFolder(folder: string, answer: object): object {
  const fields = new Map<string, unknown>(Object.entries(answer))
  const { key, items, commonPrefixes } = Object.fromEntries(fields)
  if (typeof key === 'string') fields.set('key', stripped(folder, key))
  if (Array.isArray(items))
    fields.set(
      'items',
      items.map((item) => outsideFolder(folder, item)),
    )
  if (Array.isArray(commonPrefixes)) {
    fields.set(
      'commonPrefixes',
      commonPrefixes.map((prefix) => stripped(folder, String(prefix))),
    )
  }
  return Object.fromEntries(fields)
}

/** Clients of signed URLs resolve dot segments, whatever an object store thinks of them. */
function checkedPath(field: string, path: string): string {
  if (field === 'key' && path === '') throw invalid('payload.key', 'must not be empty')
  const dots = path.split(/[/\\]/).some((step) => step === '.' || step === '..')
  if (dots) throw invalid(`payload.${field}`, 'must not have "." or ".." as a step')
  return path
}

function stripped(folder: string, key: string): string {
  if (key.startsWith(folder)) return key.slice(folder.length)
  throw new Error('An answer names a key outside its caller’s folder')
}
