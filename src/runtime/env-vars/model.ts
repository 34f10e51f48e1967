import { invalid } from '#base/app-error.ts'
import { isStorable } from '#base/storable-text.ts'

export const MAX_ENV_VARS = 200
/** SSM's own parameters end at 8 KiB; certificates and service-account keys are longer. */
const MAX_VALUE_BYTES = 32 * 1024
/** Bounds all names and values of a site together. */
const MAX_TOTAL_BYTES = 256 * 1024

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/
/** What the runtimes themselves read, here and where the same code runs under Deno. */
const RESERVED = /^(?:CROFT_|DENO_|__proto__$)/

/** `ssmSecureString` is what secrets are kept in; `ssmString` is for values that every admin may read. */
export type StorageBackend = 'ssmSecureString' | 'ssmString'

export interface EnvVar {
  readonly name: string
  readonly secret: boolean
  readonly storageBackend: StorageBackend
  readonly updatedAt: Date
  /** Only when not secret. */
  readonly value?: string
}

/** What is left out keeps; a new variable needs a value. */
export interface EnvVarChange {
  readonly name: string
  /** Null deletes. */
  readonly value?: string | null
  /** False for a new variable, when left out. */
  readonly secret?: boolean
  /** `ssmSecureString` for a new variable, when left out. */
  readonly storageBackend?: StorageBackend
}

export type EnvVarAction = 'create' | 'update' | 'delete' | 'none'

/** A variable with its value, as the service alone sees it. */
export type PlainEnvVar = Required<Omit<EnvVar, 'updatedAt'>>

/** A variable as a revision carries it: it cannot be read without the site's key. */
export interface SealedEnvVar {
  readonly name: string
  readonly secret: boolean
  /** Base64 of what `EnvVars` sealed. */
  readonly sealed: string
}

/** A variable as the code that may see it gets it. */
export interface OpenEnvVar {
  readonly value: string
  readonly secret: boolean
}

/** What changes come to, before anything is written. */
export interface EnvVarPlan {
  readonly actions: ReadonlyMap<string, EnvVarAction>
  /** The variables that are created or updated. */
  readonly written: readonly PlainEnvVar[]
  readonly deleted: readonly string[]
}

const NEW_VARIABLE = { storageBackend: 'ssmSecureString', secret: false } as const

/** Plans the changes; variables of `toDelete` do not count any more. Faults name fields as `{NAME}.value`; a name that is not valid is never repeated, for it may be a value in the wrong place. */
export function planEnvVarChanges(
  known: ReadonlyMap<string, PlainEnvVar>,
  changes: readonly EnvVarChange[],
  toDelete: ReadonlySet<string> = new Set(),
): EnvVarPlan {
  const actions = new Map<string, EnvVarAction>()
  const after = new Map(known)
  for (const change of changes) {
    checkName(change.name)
    if (actions.has(change.name)) throw invalid(change.name, 'is there twice')
    const before = known.get(change.name)
    const next = changedVariable(change, before)
    actions.set(change.name, actionOf(before, next))
    if (next) after.set(change.name, next)
    else after.delete(change.name)
  }
  const inState = (wanted: readonly EnvVarAction[]) =>
    [...actions].filter(([, action]) => wanted.includes(action)).map(([name]) => name)
  const written = inState(['create', 'update']).flatMap((name) => after.get(name) ?? [])
  // What only takes away always passes.
  if (written.length > 0) {
    checkBounds([...after.values()].filter(({ name }) => !toDelete.has(name)))
  }
  return { actions, written, deleted: inState(['delete']) }
}

/** Whether a function's code could be given this variable. */
function checkName(name: string): void {
  if (!NAME.test(name)) {
    throw invalid(
      'name',
      'a name is a letter or "_", then up to 127 letters, digits or "_": one of them is not',
    )
  }
  if (RESERVED.test(name)) {
    throw invalid(
      name,
      'is a reserved name: choose one without the prefix CROFT_, DENO_ or __proto__',
    )
  }
}

/** Undefined when the change deletes it. */
function changedVariable(
  change: EnvVarChange,
  before: PlainEnvVar | undefined,
): PlainEnvVar | undefined {
  if (change.value === null) return undefined
  const { storageBackend, secret } = { ...NEW_VARIABLE, ...before, ...change }
  if (before?.secret && !secret && change.value === undefined) {
    throw invalid(
      `${change.name}.value`,
      'is required: a secret is never shown, so make it readable by sending its value again',
    )
  }
  if (secret && storageBackend === 'ssmString') {
    throw invalid(
      `${change.name}.secret`,
      'a secret cannot be kept as "ssmString": use "ssmSecureString", or send "secret": false and the value',
    )
  }
  return { name: change.name, value: valueOf(change, before), storageBackend, secret }
}

function valueOf({ name, value }: EnvVarChange, before: PlainEnvVar | undefined): string {
  const next = value ?? before?.value
  if (next === undefined) {
    throw invalid(
      `${name}.value`,
      'is required: the variable does not exist yet. Give its value here, or set it first with "croft env set" or PUT /admin/data/env-vars',
    )
  }
  checkValue(name, next)
  return next
}

function checkValue(name: string, value: string): void {
  const field = `${name}.value`
  const bytes = Buffer.byteLength(value)
  if (bytes > MAX_VALUE_BYTES) {
    throw invalid(field, `is ${bytes} bytes: a value has at most ${MAX_VALUE_BYTES}`)
  }
  if (!isStorable(value)) throw invalid(field, 'holds a NUL character or half a surrogate pair')
}

function actionOf(before: PlainEnvVar | undefined, next: PlainEnvVar | undefined): EnvVarAction {
  if (!next) return before ? 'delete' : 'none'
  if (!before) return 'create'
  const same =
    before.value === next.value &&
    before.secret === next.secret &&
    before.storageBackend === next.storageBackend
  return same ? 'none' : 'update'
}

function checkBounds(after: readonly PlainEnvVar[]): void {
  if (after.length > MAX_ENV_VARS) {
    throw invalid(
      'variables',
      `a site has at most ${MAX_ENV_VARS} variables, this would make ${after.length}`,
    )
  }
  let bytes = 0
  for (const { name, value } of after) bytes += name.length + Buffer.byteLength(value)
  if (bytes > MAX_TOTAL_BYTES) {
    throw invalid(
      'variables',
      `names and values of a site have at most ${MAX_TOTAL_BYTES} bytes in all, this would make ${bytes}`,
    )
  }
}

/** What a value is sealed for, with the key of its site. */
export const envVarSealContext = (name: string): string => `env-var:${name}`
