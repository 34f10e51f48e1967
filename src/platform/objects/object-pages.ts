import type { ObjectList, ObjectStore } from './object-store.ts'

const PAGE_OBJECTS = 1000

/** Everything below a prefix in key order. Each page is asked for when the one before it has been worked. */
export async function* objectPages(
  objects: Pick<ObjectStore, 'list'>,
  prefix: string,
): AsyncGenerator<ObjectList['objects'], void, undefined> {
  let continuation: string | undefined
  do {
    const page = await objects.list({
      prefix,
      maxKeys: PAGE_OBJECTS,
      ...(continuation !== undefined && { continuation }),
    })
    yield page.objects
    continuation = page.continuation
  } while (continuation !== undefined)
}

/** The sizes of all objects whose keys begin with `prefix`, by what follows it. */
export async function objectSizes(
  objects: Pick<ObjectStore, 'list'>,
  prefix: string,
): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>()
  for await (const page of objectPages(objects, prefix)) {
    for (const { key, sizeBytes } of page) sizes.set(key.slice(prefix.length), sizeBytes)
  }
  return sizes
}
