import { partKey, rawKey } from '#mail/objects/mail-keys.ts'
import { isShownImage, replaceOwnImages } from '#platform/mail-parser/own-images.ts'
import { urlExpiry } from '#platform/objects/object-rules.ts'
import type { PlatformServices } from '#platform/services.ts'

import type { StoredDetail } from './access-queries.ts'
import { downloadNameOf } from './download-name.ts'
import type { AttachmentDetail, MessageDetail } from './model.ts'
import { objectIdOf, storedAttachments } from './stored-attachments.ts'

const URL_SECONDS = 15 * 60

export type PartSigningDeps = Pick<PlatformServices, 'objectUrls' | 'clock'>

/**
 * The URLs of a message's bytes. They lead to the service itself, wherever the objects are: it says that they are no page
 * of this origin, which S3 does not. Reads none of the bytes.
 */
export async function signedPartsOf(
  deps: PartSigningDeps,
  siteId: string,
  row: StoredDetail,
): Promise<Pick<MessageDetail, 'attachments' | 'html' | 'rawUrl'>> {
  const expiresAt = urlExpiry(deps.clock.now(), URL_SECONDS)
  const sign = async (key: string, downloadName?: string) => {
    const named = downloadName === undefined ? {} : { downloadName }
    const { url } = await deps.objectUrls.sign({ method: 'GET', key, expiresAt, ...named })
    return url
  }
  const attachments: AttachmentDetail[] = []
  const images = new Map<string, string>()
  for (const part of storedAttachments(row.attachments)) {
    const { attachmentId, contentType, sizeBytes, contentId, inline } = part
    const key = partKey(siteId, row.rawId, objectIdOf(part))
    const filename = downloadNameOf(part.filename)
    attachments.push({
      attachmentId,
      filename,
      contentType,
      size: sizeBytes,
      ...(typeof contentId === 'string' && { contentId }),
      inline,
      url: await sign(key, filename),
      expiresAt: expiresAt.toISOString(),
    })
    if (typeof contentId === 'string' && isShownImage(contentType)) {
      images.set(contentId, await sign(key))
    }
  }
  return {
    attachments,
    html: row.html === null ? null : withImages(row.html, images),
    rawUrl: await sign(rawKey(siteId, row.rawId), `${row.messageId}.eml`),
  }
}

/** The parser leaves `src="cid:…"` only. An image that is none of the message's own shows nothing. */
const withImages = (html: string, images: ReadonlyMap<string, string>): string =>
  replaceOwnImages(html, (contentId) => {
    const url = images.get(contentId)
    return url === undefined ? 'src=""' : `src="${url.replaceAll('&', '&amp;')}"`
  })
