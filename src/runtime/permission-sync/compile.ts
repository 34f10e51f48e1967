import { createHash } from 'node:crypto'

import { isStorable } from '#base/storable-text.ts'
import type { FunctionSource, Module, PreparedFunction } from '#platform/sandbox-host/sandbox.ts'
import type { SealedEnvVar } from '#runtime/env-vars/model.ts'
import type { Operation } from '#runtime/operations/model.ts'
import {
  DOCUMENT_FORMAT,
  type RevisionDocument,
  type RevisionFunction,
  type RevisionStore,
} from '#runtime/published/revision-document.ts'
import { codeFaultMessage, inlineSource } from '#runtime/resources/function-code.ts'
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

export type Prepare = (source: FunctionSource) => Promise<PreparedFunction>

/** Turns what the control plane says into what calls are served from. A function that does not load is a fault of its own. */
export async function compile(input: CompileInput, prepare: Prepare): Promise<RevisionDocument> {
  const modules = new Map<string, Module>()
  const functions: RevisionFunction[] = []
  for (const resource of input.resources.filter(isFunction)) {
    const compiled = await compileFunction(resource, input.files, prepare)
    for (const [hash, module] of compiled.modules) modules.set(hash, module)
    functions.push(compiled.function)
  }
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
}: Operation): BoundOperation => ({ operation, auth, cacheTtlSeconds, functionId, preset })

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
export function faultSummary(document: RevisionDocument): string | null {
  const faults = document.functions.flatMap(({ name, fault }) =>
    fault === null ? [] : [`function "${name}": ${fault}`],
  )
  if (faults.length === 0) return null
  const shown = faults.slice(0, 10).join('; ')
  return faults.length > 10 ? `${shown}; and ${faults.length - 10} more` : shown
}

/** Lists the functions that name variables nobody set. */
export function missingVariables(
  document: RevisionDocument,
): { readonly functionName: string; readonly names: readonly string[] }[] {
  const set = new Set(document.env.map(({ name }) => name))
  return document.functions.flatMap(({ name: functionName, environment }) => {
    const names = environment.filter((name) => !set.has(name))
    return names.length === 0 ? [] : [{ functionName, names }]
  })
}

/** Lists the operations that are for groups nobody made. */
export function missingGroups(
  { operations }: RevisionDocument,
  groups: ReadonlySet<string>,
): { readonly operation: string; readonly names: readonly string[] }[] {
  return operations.flatMap(({ operation, auth }) => {
    const names = auth.mode === 'groups' ? auth.groups.filter((name) => !groups.has(name)) : []
    return names.length === 0 ? [] : [{ operation, names }]
  })
}

interface Compiled {
  readonly function: RevisionFunction
  readonly modules: ReadonlyMap<string, Module>
}

async function compileFunction(
  resource: FunctionResource,
  files: ReadonlyMap<string, string>,
  prepare: Prepare,
): Promise<Compiled> {
  const { config, name, resourceId } = resource
  const source = sourceOf(config, files)
  const loaded = await load(source, prepare)
  const modules = new Map(loaded.modules.map((module) => [hashOf(module), module]))
  return {
    modules,
    function: {
      functionId: resourceId,
      name,
      entry: source.entry,
      handler: config.handler,
      timeoutMs: Math.max(100, Math.round(config.timeoutSeconds * 1000)),
      memoryMb: config.memoryMb,
      grants: config.resources,
      environment: config.environment,
      modules: [...modules.keys()],
      fault: loaded.fault,
    },
  }
}

const sourceOf = (
  config: FunctionResource['config'],
  files: ReadonlyMap<string, string>,
): FunctionSource =>
  config.code === undefined ? { entry: config.artifact ?? '', files } : inlineSource(config.code)

async function load(
  source: FunctionSource,
  prepare: Prepare,
): Promise<{ readonly modules: readonly Module[]; readonly fault: string | null }> {
  if (!source.files.has(source.entry)) {
    return { modules: [], fault: `"${source.entry}" is not a code file of the current deployment` }
  }
  const prepared = await prepare(source)
  if (!prepared.ok) return { modules: [], fault: codeFaultMessage(prepared.fault, source.entry) }
  const unkept = prepared.modules.find(({ path, code }) => !isStorable(path) || !isStorable(code))
  if (unkept) {
    return { modules: [], fault: `"${unkept.path}" holds a NUL character or half a surrogate pair` }
  }
  return { modules: prepared.modules, fault: null }
}

const hashOf = ({ path, format, code }: Module): string =>
  createHash('sha256')
    .update(JSON.stringify([path, format, code]))
    .digest('base64url')
