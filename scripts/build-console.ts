import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

import { buildConsole } from '#console/build.ts'

/** Writes the console's files into a folder, with the list of them that the service reads. */
export async function writeConsole(folder: string): Promise<void> {
  const { files, ...entry } = await buildConsole()
  await mkdir(folder, { recursive: true })
  for (const { path, bytes } of files) await writeFile(join(folder, basename(path)), bytes)
  const listed = files.map(({ path, contentType }) => ({ path, contentType }))
  await writeFile(join(folder, 'console.json'), JSON.stringify({ ...entry, files: listed }))
}
