/** The references of HTML to images of the message itself: the parser tells by the same code which parts are inline. */
export { isShownImage, replaceOwnImages } from '#sandbox/mail/own-images.ts'
