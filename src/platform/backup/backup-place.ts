/**
 * Where backups are: a folder, or a prefix in a bucket of S3. Names are words of `[A-Za-z0-9._-]` with slashes between. A write is
 * atomic and durable when it resolves.
 */
export interface BackupPlace extends AsyncDisposable {
  /** As it was given: `/backups/croft`, `s3://bucket/prefix`. */
  readonly address: string
  /** Undefined when there is no such file. Files are at most some MiB long. */
  read(name: string): Promise<Buffer | undefined>
  write(name: string, bytes: Uint8Array): Promise<void>
  /** False, and nothing is written, where the file is there already. */
  create(name: string, bytes: Uint8Array): Promise<boolean>
  /** Names of files in a folder and those below, in no order. */
  list(folder: string): AsyncIterable<string>
  /** Deleting what is not there is fine. It is durable when the folder has been flushed. */
  delete(name: string): Promise<void>
  /** Makes what is in a folder durable that a process left which was killed, and what was deleted. */
  flush(folder: string): Promise<void>
}
