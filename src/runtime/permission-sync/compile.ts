import { isDeepStrictEqual } from 'node:util'

import type { Module, PreparedFunction } from '#platform/sandbox-host/sandbox.ts'
import type { SealedEnvVar } from '#runtime/env-vars/model.ts'
import { codeFaultMessage, functionSourceOf } from '#runtime/functions/function-code.ts'
import { moduleHash } from '#runtime/functions/module-hash.ts'
import type { Operation } from '#runtime/operations/model.ts'
import type { CheckedSchema, OperationSchema } from '#runtime/operations/schemas/json-schema.ts'
import { compileSchema } from '#runtime/operations/schemas/parse-schema.ts'
import {
  DOCUMENT_FORMAT,
  type RevisionDocument,
  type RevisionFunction,
  type RevisionStore,
} from '#runtime/published/revision-document.ts'
import type {
  BucketResource,
  FunctionResource,
  Resource,
  TableResource,
} from '#runtime/resources/model.ts'
import { type RuntimeSettings, siteLimits } from '#runtime/revisions/limits.ts'

import { type BoundOperation, withDigests } from './operation-digests.ts'

export interface CompileInput {
  readonly resources: readonly Resource[]
  readonly operations: readonly Operation[]
  /** The current deployment's code, by path. */
  readonly files: ReadonlyMap<string, string>
  readonly settings: RuntimeSettings
  readonly env: readonly SealedEnvVar[]
}

/** The modules of a function that loads, or what is wrong with it; `published` is what its calls run now. */
export type LoadFunction = (
  resource: FunctionResource,
  published: RevisionFunction | undefined,
) => Promise<PreparedFunction>

export interface CompiledRevision {
  readonly document: RevisionDocument
  /** Why functions do not load, in words. */
  readonly faults: readonly string[]
}

/**
 * Turns what the control plane says into what calls are served from. A function that does not load keeps the code of the
 * revision before; without any it is a fault of its own.
 */
export async function compile(
  input: CompileInput,
  load: LoadFunction,
  before: RevisionDocument | undefined,
): Promise<CompiledRevision> {
  const modules = new Map<string, Module>()
  const functions: RevisionFunction[] = []
  const faults: string[] = []
  for (const resource of input.resources.filter(isFunction)) {
    const published = before?.functions.find(
      ({ functionId, fault }) => functionId === resource.resourceId && fault === null,
    )
    const compiled = compiledFunction(resource, await load(resource, published), {
      published,
      modules: before?.modules ?? {},
    })
    for (const [hash, module] of compiled.modules) modules.set(hash, module)
    functions.push(compiled.function)
    faults.push(...compiled.faults)
  }
  return { document: documentOf(input, { functions, modules }), faults }
}

/** What a site without resources and operations is served from. */
export const emptyRevision = (settings: RuntimeSettings): RevisionDocument =>
  documentOf(
    { resources: [], operations: [], files: new Map(), env: [], settings },
    { functions: [], modules: new Map() },
  )

function documentOf(
  input: CompileInput,
  {
    functions,
    modules,
  }: {
    readonly functions: readonly RevisionFunction[]
    readonly modules: ReadonlyMap<string, Module>
  },
): RevisionDocument {
  const named = new Set(functions.flatMap(({ environment }) => environment))
  const compiled = {
    functions,
    stores: input.resources.filter(isStore).map(storeOf),
    modules: Object.fromEntries(modules),
    env: input.env.filter(({ name }) => named.has(name)),
    egressAllow: input.settings.egress.allow,
    limits: siteLimits(input.settings.limits),
  }
  return {
    ...compiled,
    format: DOCUMENT_FORMAT,
    operations: withDigests(input.operations.map(bindingOf), compiled),
  }
}

const bindingOf = ({
  operation,
  auth,
  cacheTtlSeconds,
  lambdaResourceId: functionId,
  preset,
  http,
  input,
  output,
}: Operation): BoundOperation => ({
  operation,
  auth,
  cacheTtlSeconds,
  functionId,
  preset,
  // Absent where it is not so: digests of earlier versions stay the same.
  ...(http ? { http } : {}),
  ...(input === null ? {} : { input: compiled(input) }),
  ...(output === null ? {} : { output: compiled(output) }),
})

const compiled = (schema: OperationSchema): CheckedSchema => ({
  schema,
  check: compileSchema(schema),
})

const isFunction = (resource: Resource): resource is FunctionResource =>
  resource.type === 'lambdaFunction'

const isStore = (resource: Resource): resource is TableResource | BucketResource =>
  !isFunction(resource)

const storeOf = ({
  createdAt: _createdAt,
  updatedAt: _updatedAt,
  ...store
}: TableResource | BucketResource): RevisionStore => store

/** What the sync says of functions that do not load; null when all do. */
export function faultSummary({ faults }: CompiledRevision): string | null {
  if (faults.length === 0) return null
  const shown = faults.slice(0, 10).join('; ')
  return faults.length > 10 ? `${shown}; and ${faults.length - 10} more` : shown
}

/** Lists the functions that name variables without a value. */
export function missingVariables(
  document: RevisionDocument,
): { readonly functionName: string; readonly names: readonly string[] }[] {
  const set = new Set(document.env.map(({ name }) => name))
  return document.functions.flatMap(({ name: functionName, environment }) => {
    const names = environment.filter((name) => !set.has(name))
    return names.length === 0 ? [] : [{ functionName, names }]
  })
}

/** Lists the operations that are for groups that do not exist. */
export function missingGroups(
  { operations }: RevisionDocument,
  groups: ReadonlySet<string>,
): { readonly operation: string; readonly names: readonly string[] }[] {
  return operations.flatMap(({ operation, auth }) => {
    const names = auth.mode === 'groups' ? auth.groups.filter((name) => !groups.has(name)) : []
    return names.length === 0 ? [] : [{ operation, names }]
  })
}

type CalledCode = Pick<RevisionFunction, 'entry' | 'handler' | 'timeoutMs' | 'memoryMb'>

interface Compiled {
  readonly function: RevisionFunction
  readonly modules: ReadonlyMap<string, Module>
  readonly faults: readonly string[]
}

function compiledFunction(
  resource: FunctionResource,
  loaded: PreparedFunction,
  before: {
    readonly published: RevisionFunction | undefined
    readonly modules: RevisionDocument['modules']
  },
): Compiled {
  const { config, name, resourceId } = resource
  const made = {
    functionId: resourceId,
    name,
    grants: config.resources,
    environment: config.environment,
  }
  const code = codeIn(config)
  if (loaded.ok) {
    const modules = new Map(loaded.modules.map((module) => [moduleHash(module), module]))
    const compiled = { ...made, ...code, modules: [...modules.keys()], fault: null }
    return { function: compiled, modules, faults: [] }
  }
  const fault = codeFaultMessage(loaded.fault, code.entry)
  const { published } = before
  if (!published) {
    const compiled = { ...made, ...code, modules: [], fault }
    return { function: compiled, modules: new Map(), faults: [`function "${name}": ${fault}`] }
  }
  const kept = published.modules.flatMap((hash): [string, Module][] => {
    const module = before.modules[hash]
    return module === undefined ? [] : [[hash, module]]
  })
  return {
    function: { ...published, ...made },
    modules: new Map(kept),
    faults: [
      `function "${name}" goes on with its earlier code, for the new one does not load: ${fault}`,
    ],
  }
}

/** Whether a function's calls run exactly this. */
export const isPublishedAs = (
  published: RevisionFunction | undefined,
  config: FunctionResource['config'],
  modules: readonly Module[],
): boolean =>
  published !== undefined &&
  isDeepStrictEqual(
    { ...codeOf(published), environment: published.environment, modules: published.modules },
    { ...codeIn(config), environment: config.environment, modules: modules.map(moduleHash) },
  )

const codeOf = ({ entry, handler, timeoutMs, memoryMb }: CalledCode): CalledCode => ({
  entry,
  handler,
  timeoutMs,
  memoryMb,
})

const codeIn = (config: FunctionResource['config']): CalledCode => ({
  entry: functionSourceOf(config, new Map()).entry,
  handler: config.handler,
  timeoutMs: Math.max(100, Math.round(config.timeoutSeconds * 1000)),
  memoryMb: config.memoryMb,
})
