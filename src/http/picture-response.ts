import type { Picture } from '#base/picture.ts'

/** For pages of the same origin alone. Its address changes with the picture, so that it may be kept. */
export const pictureResponse = ({ bytes, type }: Picture): Response =>
  new Response(new Uint8Array(bytes), {
    headers: {
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    },
  })
