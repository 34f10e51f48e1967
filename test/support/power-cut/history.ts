import { writeSync } from 'node:fs'

import type { TracedFiles } from './power-cuts.ts'

/** What a thing holds at a version, and after all: "-" is its end. */
export const contentOf = (name: string, version: string): Buffer =>
  Buffer.from(`${name} ${version}\n`.repeat(300))

/** Says that a version is safe. Written at once: the log has it between the calls before and behind. */
export function acknowledge(name: string, version: number | '-'): void {
  writeSync(1, `acknowledged ${name}#${version}\n`)
}

interface Acknowledged {
  readonly version: string
  readonly line: number
}

/** What a traced program acknowledged, and when. */
export class History {
  readonly #versions = new Map<string, Acknowledged[]>()

  constructor(files: TracedFiles) {
    for (const [text, line] of files.outputs(/acknowledged (\S+)/g)) {
      const [name = '', version = ''] = text.split('#')
      this.#versions.set(name, [...(this.#versions.get(name) ?? []), { version, line }])
    }
  }

  get size(): number {
    return this.#versions.size
  }

  /** What is wrong with what is left of each thing after a power cut behind a line: it may be as acknowledged last, or later. */
  async faults(
    line: number,
    read: (name: string) => Promise<Buffer | undefined>,
  ): Promise<string[]> {
    const faults: string[] = []
    for (const [name, versions] of this.#versions) {
      const last = versions.findLastIndex((version) => version.line < line)
      if (last === -1) continue
      const found = await read(name).catch((error: unknown) => Buffer.from(String(error)))
      const allowed = versions.slice(last).map(({ version }) => version)
      const isFine = allowed.some((version) =>
        version === '-' ? found === undefined : found?.equals(contentOf(name, version)),
      )
      if (!isFine) faults.push(`${name}#${allowed[0]} is ${found === undefined ? 'gone' : 'torn'}`)
    }
    return faults
  }
}
