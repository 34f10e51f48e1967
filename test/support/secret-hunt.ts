import { randomBytes } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import type { Stack } from './stack.ts'
import { asSuperuser } from './superuser.ts'

/** Characters that JSON, URLs and forms write in another way. */
const AROUND = ['p@ss "', '"/+&ü%\\'] as const

/** A value that occurs nowhere else, and every trace that it could leave. */
export class PlantedSecret {
  readonly value: string
  readonly #traces: readonly string[]

  constructor() {
    const core = randomBytes(16).toString('hex')
    this.value = AROUND.join(core)
    // Whatever escapes the rest leaves letters and digits alone; a half is a leak too.
    const halves = [core.slice(0, 16), core.slice(16)]
    const bytes = halves.map((half) => Buffer.from(half))
    this.#traces = [
      ...halves,
      ...bytes.map((half) => half.toString('hex')),
      ...bytes.flatMap((half) => [0, 1, 2].map((before) => innerBase64(before, half))),
    ]
  }

  isIn(text: string): boolean {
    return this.#traces.some((trace) => text.includes(trace))
  }
}

/** Base64 of `bytes` wherever they begin in what is encoded, without the letters that neighbours share. */
function innerBase64(before: number, bytes: Buffer): string {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
  return whole.slice(before === 0 ? 0 : 4, Math.floor((before + bytes.length) / 3) * 4)
}

/** Every row of every table as text, those of the queue too. */
export function everyRow(stack: Stack): Promise<Map<string, string>> {
  return asSuperuser(stack, async (sql) => {
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', n.nspname, c.relname) as name
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('public', 'pgboss') and c.relkind = 'r'`
    const rows = new Map<string, string>()
    for (const { name } of tables) {
      const found = await sql.unsafe(`select t::text as row from ${name} t`)
      rows.set(name, found.map(({ row }) => String(row)).join('\n'))
    }
    return rows
  })
}

/** Every file below the folder, by its path. */
export async function everyFile(folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    files.set(path, (await readFile(path)).toString('latin1'))
  }
  return files
}
