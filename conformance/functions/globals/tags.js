export default async () => {
  return [
    `${crypto}`,
    `${new Headers()}`,
    `${new URLSearchParams('a=1')}`,
    Object.prototype.toString.call(console),
    Object.prototype.toString.call(new Blob()),
  ]
}
