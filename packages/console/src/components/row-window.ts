/** Rows beyond both ends of the window that are rendered, too. */
const MARGIN = 20
/** Shorter lists are rendered whole: they can be searched by the browser. */
const WHOLE = 200

export interface RowWindow {
  readonly from: number
  /** Exclusive. */
  readonly to: number
  /** In pixels, of the rows before and after. */
  readonly before: number
  readonly after: number
}

export interface ScrolledList {
  readonly count: number
  readonly rowHeight: number
  /** How far the top of the list is above that of the window, in pixels. */
  readonly top: number
  /** Of the window. */
  readonly height: number
}

/** Which rows of a list are near the window. All rows are of one height. */
export function windowOf({ count, rowHeight, top, height }: ScrolledList): RowWindow {
  if (count <= WHOLE) return { from: 0, to: count, before: 0, after: 0 }
  const first = Math.floor(Math.max(0, top) / rowHeight)
  const from = Math.min(Math.max(0, first - MARGIN), count - 1)
  const to = Math.min(count, first + Math.ceil(height / rowHeight) + MARGIN)
  return {
    from,
    to: Math.max(to, from + 1),
    before: from * rowHeight,
    after: (count - Math.max(to, from + 1)) * rowHeight,
  }
}
