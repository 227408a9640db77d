const size = 64;
let plain: string | undefined;

/** Draws a dot on the tab's icon, or restores the icon. */
export async function setFaviconBadge(isOn: boolean): Promise<void> {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (!link) return;
  plain ??= link.href;
  if (!isOn) {
    link.href = plain;
    return;
  }
  const image = new Image(size, size);
  image.src = plain;
  const canvas = document.createElement('canvas');
  canvas.width = size;
  canvas.height = size;
  const context = canvas.getContext('2d');
  if (!context) return;
  try {
    await image.decode();
    context.drawImage(image, 0, 0, size, size);
  } catch {
    // Without the picture, the dot alone has to do.
  }
  context.beginPath();
  context.arc(size * 0.74, size * 0.26, size * 0.25, 0, 2 * Math.PI);
  context.fillStyle = '#e5484d';
  context.fill();
  if (document.visibilityState !== 'visible') link.href = canvas.toDataURL('image/png');
}
