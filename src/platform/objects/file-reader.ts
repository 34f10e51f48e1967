import type { FileHandle } from 'node:fs/promises'

const CHUNK_BYTES = 128 * 1024

/** Reads as fast as it is read from, and closes the file at the end, on a fault and on cancel. */
export function readFileRange(
  file: FileHandle,
  offset: number,
  length: number,
): ReadableStream<Uint8Array> {
  let position = offset
  const end = offset + length
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = new Uint8Array(Math.min(CHUNK_BYTES, end - position))
          const { bytesRead } =
            chunk.length === 0
              ? { bytesRead: 0 }
              : await file.read(chunk, 0, chunk.length, position)
          if (bytesRead === 0 && position < end) throw new Error('An object file is too short')
          position += bytesRead
          const isFull = bytesRead === chunk.length
          if (bytesRead > 0) controller.enqueue(isFull ? chunk : chunk.slice(0, bytesRead))
          if (position < end) return
          await file.close()
          controller.close()
        } catch (error) {
          await file.close().catch(() => {})
          controller.error(error)
        }
      },
      cancel: () => file.close(),
    },
    { highWaterMark: 0 },
  )
}
