import { type Mutation, faultsOf } from '#scripts/mutate/mutation.ts'

const CUTS = ['test/power-cut/components.test.ts']
const of = faultsOf('durability', CUTS)

const WRITER = 'src/platform/objects/file-writer.ts'
const ATOMIC = 'src/config/atomic-file.ts'
const FOLDERS = 'src/platform/disk/durable-folders.ts'

/** What was acknowledged and a power cut would take. */
export const DURABILITY: readonly Mutation[] = [
  of(
    'objects without O_DSYNC',
    [WRITER, ' | O_DSYNC,', ','],
    'an object has its name and no bytes',
  ),
  of(
    'streamed objects without a flush',
    [WRITER, '    await file.sync()\n    return {', '    return {'],
    'a long object has its name and no bytes',
  ),
  of(
    'objects without a flush where there is no O_DSYNC',
    [
      WRITER,
      '    await file.appendFile(bytes)\n    await file.sync()\n',
      '    await file.appendFile(bytes)\n',
    ],
    'an object on macOS has its name and no bytes',
  ),
  of(
    'copies without a flush',
    [WRITER, "open(to, 'r+')\n  try {\n    await file.sync()\n", "open(to, 'r+')\n  try {\n"],
    'what a backup still needs is empty',
  ),
  of(
    'no flush of the folder of an object',
    [WRITER, '  })\n  await folders.flush(folder)\n', '  })\n'],
    'the object is gone',
  ),
  of(
    'no flush of the folder of a second name',
    [WRITER, '  await folders.flush(dirname(to))\n', ''],
    'what a backup still needs is gone',
  ),
  of(
    'no flush after a deletion',
    [
      'src/platform/objects/file-object-store.ts',
      '    await this.#folders.flush(dirname(path))\n',
      '',
    ],
    'what a person deleted comes back',
  ),
  of(
    'no flush of the folders above',
    [FOLDERS, '      await this.#flushes.flush(dirname(each))\n', ''],
    'a new folder is gone with all objects in it',
  ),
  of(
    'a folder flushes nothing',
    [FOLDERS, '    await flushed(descriptor)\n', ''],
    'the object is gone',
  ),
  of(
    'a running flush counts for what came after it began',
    [
      'src/platform/disk/shared-flushes.ts',
      '    const following = running.then(begin, begin)\n',
      '    if (running !== undefined) return running\n    const following = running.then(begin, begin)\n',
    ],
    'one of many objects that come together is gone',
    ['src/platform/disk/shared-flushes.test.ts'],
  ),
  of(
    'files of the data folder without a flush',
    [
      ATOMIC,
      '    await file.writeFile(content)\n    await file.sync()\n',
      '    await file.writeFile(content)\n',
    ],
    'the master key is empty',
  ),
  of(
    'no flush of the folder of the data folder’s files',
    [ATOMIC, '    await folder.sync()\n', ''],
    'the master key is gone',
  ),
  of(
    'no flush after a file was replaced',
    [
      ATOMIC,
      '  await rename(unfinished, path)\n  await syncFolder(dirname(path))\n',
      '  await rename(unfinished, path)\n',
    ],
    'the old text is back',
  ),
  of(
    'no flush after a file was created',
    [ATOMIC, '    await syncFolder(dirname(path))\n    return isNew\n', '    return isNew\n'],
    'the master key is gone',
  ),
  of(
    'no flush of the name of the database',
    ['src/platform/postgres/embedded/cluster.ts', '  await syncFolder(dirname(cluster))\n', ''],
    'a first start’s database is taken for an unfinished one, and removed',
    ['test/power-cut/service.test.ts'],
  ),
  of(
    'no flush of the name of a new folder',
    [ATOMIC, '    await syncFolder(folder).catch(', '    await Promise.resolve(folder).catch('],
    'the folder of all objects is gone',
  ),
  of(
    'no flush of an archive',
    ['src/cli/site-export.ts', '    await this.#file.sync()\n', ''],
    'the archive of an export has its name and no bytes',
  ),
  of(
    'no flush of the name of an archive',
    ['src/cli/site-export.ts', '    await syncFolder(dirname(this.#target))\n', ''],
    'the archive of an export is gone',
  ),
  of(
    'parts that a killed backup left count as they are',
    ['src/platform/backup/chunks.ts', 'await place.flush(folder)', 'String(folder)'],
    'a complete backup lacks a part',
  ),
  of(
    'no flush of the parts of a backup',
    ['src/platform/backup/folder-place.ts', '    await this.#folders.flush(folder)\n', ''],
    'a complete backup is gone',
  ),
  of(
    'a deleted backup comes back without its parts',
    ['src/platform/backup/manifest.ts', '  await place.flush(FOLDER)\n', ''],
    'a backup is listed that cannot be restored',
  ),
]
