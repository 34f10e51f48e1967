import ivm from 'isolated-vm'

import { PART_NAMES, type GuestScripts, type PartName } from '#sandbox/protocol/part-names.ts'

/** Where the code of a context is. */
export interface GuestScope {
  readonly isolate: ivm.Isolate
  readonly context: ivm.Context
  readonly loaded?: (name: PartName) => void
}

/** The parts of the web platform that contexts load when they first need them; the first to do so compiles for all. */
export class GuestParts {
  readonly #scripts: GuestScripts['parts']
  readonly #compiled = new Map<PartName, ivm.ExternalCopy<ArrayBuffer>>()

  constructor(scripts: GuestScripts['parts']) {
    this.#scripts = scripts
  }

  /**
   * What a context calls with the name of a part, for the function that the part is. It may ask once for each: compiling
   * is not part of the time that the code of a call may take.
   */
  callback(scope: GuestScope): ivm.Callback {
    const open = new Set<string>(PART_NAMES)
    return new ivm.Callback((name: unknown) => {
      const found = PART_NAMES.find((known) => known === name)
      if (found === undefined || !open.delete(found)) throw new Error('There is no such part')
      return this.#load(found, scope)
    })
  }

  /** Runs nothing but a function expression: what is inside runs when the context calls it, in the time of its call. */
  #load(name: PartName, { isolate, context, loaded }: GuestScope): ivm.Dereference<unknown> {
    const cachedData = this.#compiled.get(name)
    const script: ivm.Script & ivm.CachedDataResult = isolate.compileScriptSync(
      this.#scripts[name],
      {
        filename: `croft:prelude/${name}`,
        ...(cachedData ? { cachedData } : { produceCachedData: true }),
      },
    )
    if (!cachedData && script.cachedData) this.#compiled.set(name, script.cachedData)
    const reference = script.runSync(context, { reference: true })
    script.release()
    loaded?.(name)
    return reference.derefInto({ release: true })
  }
}
