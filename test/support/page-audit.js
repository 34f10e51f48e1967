// Runs in the browser: finds what is wrong with the page for people who see little, or nothing, or use no mouse.
;(() => {
  const INPUTS = 'input:not([type=hidden]):not([hidden])'
  const TARGET_PX = 44
  const faults = []
  const say = (fault, element) =>
    faults.push(
      element ? `${fault}: ${element.outerHTML.replace(/\s+/g, ' ').slice(0, 120)}` : fault,
    )
  const all = (selector) => [...document.querySelectorAll(selector)]
  const isShown = (element) => element.checkVisibility() && element.getClientRects().length > 0
  const words = (element) => element?.textContent.trim() ?? ''

  const structure = () => {
    if (!document.documentElement.lang) say('the page has no language')
    if (document.title.trim() === '') say('the page has no title')
    const counts = {
      main: 1,
      h1: 1,
      'script[src], script ~ script': 0,
      '[style]': 0,
      '[tabindex]': 0,
    }
    for (const [selector, count] of Object.entries(counts)) {
      if (all(selector).length !== count) say(`${all(selector).length} × ${selector}, not ${count}`)
    }
    const ids = all('[id]').map((element) => element.id)
    for (const id of new Set(ids)) {
      if (ids.indexOf(id) !== ids.lastIndexOf(id)) say(`the id "${id}" is there twice`)
    }
    for (const element of all('p, h1, label, input, a, button')) {
      if (!element.closest('main')) say('outside every landmark', element)
    }
  }

  const names = () => {
    // A form that waits for a script hides its labels with its inputs.
    for (const input of all(INPUTS)) if (isShown(input)) nameOf(input)
    for (const control of all('a, button')) if (words(control) === '') say('no name', control)
    for (const drawing of all('svg:not([aria-hidden=true])')) say('no name', drawing)
  }
  const nameOf = (input) => {
    const label = document.querySelector(`label[for="${input.id}"]`)
    if (words(label) === '' || !isShown(label)) say('no visible label', input)
    if (!input.autocomplete) say('no autocomplete', input)
    const described = (input.getAttribute('aria-describedby') ?? '').split(' ').filter(Boolean)
    for (const id of described) {
      if (words(document.getElementById(id)) === '') say(`no description "${id}"`, input)
    }
    if (input.matches('[aria-invalid=true]') && described.length === 0) say('no reason', input)
  }

  /** WCAG 2.2, 1.4.3 for text and 1.4.11 for what one can use. */
  const contrast = () => {
    for (const element of [...all('main *'), document.querySelector('main')]) {
      if (isShown(element) && (hasWords(element) || element.matches(INPUTS))) textContrast(element)
    }
    for (const control of all(`${INPUTS}, .button.plain`)) {
      const border = channels(getComputedStyle(control).borderTopColor).rgb
      const found = ratio(border, groundOf(control.parentElement))
      if (found < 3) say(`contrast of the border ${found.toFixed(2)}, not 3`, control)
    }
  }
  const hasWords = (element) =>
    [...element.childNodes].some((node) => node.nodeType === 3 && words(node) !== '')
  const textContrast = (element) => {
    const { color, fontSize, fontWeight } = getComputedStyle(element)
    const size = parseFloat(fontSize)
    const isLarge = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700)
    const needed = isLarge ? 3 : 4.5
    const found = ratio(channels(color).rgb, groundOf(element))
    if (found < needed) say(`contrast ${found.toFixed(2)}, not ${needed}`, element)
  }
  const channels = (color) => {
    const [r, g, b, a = 1] = color.match(/[\d.]+/g).map(Number)
    return { rgb: [r, g, b], a }
  }
  const groundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const { rgb, a } = channels(getComputedStyle(at).backgroundColor)
      if (a === 1) return rgb
      if (a > 0) say('a ground that shines through', at)
    }
    return [255, 255, 255]
  }
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((value) => {
      const part = value / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const ratio = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b)
    return (light + 0.05) / (dark + 0.05)
  }

  const sizes = () => {
    const { scrollWidth, clientWidth } = document.documentElement
    if (scrollWidth > clientWidth) say(`${scrollWidth - clientWidth} px wider than the window`)
    for (const target of all(`a, button, ${INPUTS}`).filter(isShown)) {
      const { width, height } = target.getBoundingClientRect()
      if (Math.min(width, height) < TARGET_PX) say(`${width} × ${height} px to hit`, target)
    }
    for (const input of all(INPUTS)) {
      if (parseFloat(getComputedStyle(input).fontSize) < 16) say('a phone would zoom in', input)
    }
  }

  structure()
  names()
  contrast()
  sizes()
  return faults
})()
