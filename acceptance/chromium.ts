import { existsSync } from 'node:fs';

const installed = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

/**
 * The system's browser; Debian's headless shell is the same without windows, and needs half the time of a processor.
 */
export const chromiumPath = process.env.CHROMIUM_PATH ?? installed.find(existsSync) ?? '/usr/bin/chromium';
