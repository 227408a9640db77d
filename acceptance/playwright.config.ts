import { join } from 'node:path';
import { defineConfig } from '@playwright/test';
import { chromiumPath } from './chromium.ts';

/** Installed browser of the system, without prompts and background requests. */
const launchOptions = {
  executablePath: chromiumPath,
  headless: true,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--disable-dev-shm-usage',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--disable-domain-reliability',
    '--no-pings',
    '--metrics-recording-only',
    '--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication,InterestFeedContentSuggestions',
  ],
};

export default defineConfig({
  testDir: join(import.meta.dirname, 'browser'),
  outputDir: join(import.meta.dirname, '../.pw/out'),
  workers: 1,
  // These limits end hanging tests; on a busy machine a page can be late by many seconds.
  timeout: 600_000,
  expect: { timeout: 30_000 },
  use: {
    viewport: { width: 1280, height: 800 },
    // Animations cost a processor that draws; the tests of menus and of scrolling have them.
    contextOptions: { reducedMotion: 'reduce' },
    actionTimeout: 30_000,
    launchOptions,
  },
});
