import { createHash } from 'node:crypto'

import { objectIdOf, storedAttachments } from '#mail/messages/stored-attachments.ts'
import { partsPrefix, rawKey } from '#mail/objects/mail-keys.ts'
import { objectSizes } from '#platform/objects/object-pages.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'

import type { MailFinding } from './model.ts'
import type { VerifiedRaw } from './queries.ts'

export type VerifiedObjects = Pick<ObjectStore, 'list' | 'head' | 'get'>

/** What is wrong with the objects of one message. */
export async function storedFindings(
  objects: VerifiedObjects,
  siteId: string,
  raw: VerifiedRaw,
  reading: boolean,
): Promise<MailFinding[]> {
  const { rawId: id } = raw
  const [head, sizes] = await Promise.all([
    objects.head(rawKey(siteId, id)),
    objectSizes(objects, partsPrefix(siteId, id)),
  ])
  const rawSize = head?.sizeBytes
  const findings = attachmentFindings(raw, sizes)
  if (rawSize === undefined) {
    findings.unshift({ code: 'RawObjectMissing', id, detail: `the bytes of ${id} are gone` })
  } else if (rawSize !== Number(raw.sizeBytes)) {
    const detail = `${id} has ${rawSize} bytes, and ${raw.sizeBytes} came`
    findings.unshift({ code: 'RawObjectDiffers', id, detail })
  } else if (reading && !(await isAsItCame(objects, siteId, raw))) {
    findings.unshift({ code: 'RawObjectDiffers', id, detail: `${id} has other bytes than came` })
  }
  return findings
}

function attachmentFindings(
  { rawId: id, attachments }: VerifiedRaw,
  sizes: ReadonlyMap<string, number>,
): MailFinding[] {
  const parts = storedAttachments(attachments).map((part) => ({
    found: sizes.get(objectIdOf(part)),
    sizeBytes: part.sizeBytes,
  }))
  const missing = parts.filter(({ found }) => found === undefined).length
  const other = parts.filter(({ found, sizeBytes }) => (found ?? sizeBytes) !== sizeBytes).length
  const of = `of the ${parts.length} attachments of ${id}`
  const findings: MailFinding[] = []
  if (missing > 0) {
    findings.push({ code: 'AttachmentObjectsMissing', id, detail: `${missing} ${of} are gone` })
  }
  if (other > 0) {
    const detail = `${other} ${of} have another length`
    findings.push({ code: 'AttachmentObjectsDiffer', id, detail })
  }
  return findings
}

async function isAsItCame(
  objects: VerifiedObjects,
  siteId: string,
  { rawId, sha256 }: VerifiedRaw,
): Promise<boolean> {
  const stored = await objects.get(rawKey(siteId, rawId))
  if (!stored) return false
  const hash = createHash('sha256')
  for await (const chunk of stored.body) hash.update(chunk)
  return hash.digest().equals(sha256)
}
