import ivm from 'isolated-vm'

import { fileOfModule } from '#sandbox/modules/module-imports.ts'
import type { ModuleSource, SlotDefinition } from '#sandbox/protocol/protocol.ts'

import type { RuntimeReferences } from './runtime-references.ts'

/** Lets site code read the files of the artifact that came with the function, and nothing else of this machine. */
export function giveFiles({ modules }: SlotDefinition, runtime: RuntimeReferences): void {
  const files = new Map<unknown, ModuleSource>()
  for (const module of modules) {
    const path = fileOfModule(module.path)
    if (path !== undefined) files.set(path, module)
  }
  if (files.size === 0) return
  const read = new ivm.Callback((path: unknown): string | undefined => {
    const found = files.get(path)
    return found && String(JSON.parse(found.code))
  })
  runtime.files.applySync(undefined, [read])
}
