import type { Branding } from '@homeport/contracts/system';
import {
  type CSSVariablesResolver,
  createTheme,
  defaultVariantColorsResolver,
  type MantineThemeOverride,
  type VariantColorsResolver,
} from '@mantine/core';
import type { Translate } from '../i18n/i18n.ts';
import { brandShade, brandShades, contrast, readableOn, shadeOn } from './brand-color.ts';

const hexColor = /^#[0-9a-f]{6}$/i;
const fallback = { primary: '#4f46e5', foreground: '#ffffff' };

/** Dims the page behind every dialog. A blur would be repainted with each blink of the caret. */
const overlay = { backgroundOpacity: 0.45 };

/** Surfaces on which accent text must be readable; styles.css has the same values. */
const surface = { light: '#ffffff', dark: '#17181a' };

/** Mantine's theme in the installation's colors, with the component defaults that accessibility needs. */
export function createAppTheme(branding: Branding, t: Translate): MantineThemeOverride {
  const { primary } = brandColors(branding);
  return createTheme({
    primaryColor: 'brand',
    primaryShade: brandShade,
    colors: { brand: brandShades(primary), dark: darkShades },
    black: '#1b1c1e',
    autoContrast: true,
    defaultRadius: 'md',
    cursorType: 'pointer',
    respectReducedMotion: true,
    fontFamily: systemFont,
    fontFamilyMonospace: monospaceFont,
    headings: { fontFamily: systemFont, fontWeight: '600' },
    components: {
      Modal: {
        defaultProps: {
          centered: true,
          radius: 'lg',
          padding: 'lg',
          closeButtonProps: { 'aria-label': t('app.close') },
        },
      },
      ModalRoot: { defaultProps: { centered: true, radius: 'lg', padding: 'lg' } },
      ModalContent: { defaultProps: { radius: 'lg' } },
      ModalOverlay: { defaultProps: overlay },
      InputWrapper: { defaultProps: { inputWrapperOrder: ['label', 'input', 'description', 'error'] } },
      Drawer: {
        defaultProps: { closeButtonProps: { 'aria-label': t('app.close') }, overlayProps: overlay },
      },
      // A menu stays inside its landmark; fixed, so that no scroll container clips it. Its focus placeholder would be a
      // child that a menu may not have.
      Menu: {
        defaultProps: {
          withinPortal: false,
          floatingStrategy: 'fixed',
          shadow: 'md',
          radius: 'md',
          withInitialFocusPlaceholder: false,
          transitionProps: { duration: 80 },
        },
      },
    },
    variantColorResolver: resolveVariant,
  });
}

type BrandColors = Pick<Branding, 'primaryColor' | 'primaryForegroundColor'>;

/** The colors actually shown for a branding: unreadable text and links are adjusted until they are readable. */
export function shownColors(branding: BrandColors) {
  const { primary, foreground } = brandColors(branding);
  const shades = brandShades(primary);
  return {
    primary,
    onPrimary: readableOn(primary, foreground),
    accent: { light: shadeOn(shades, surface.light, 4.5), dark: shadeOn(shades, surface.dark, 4.5) },
  };
}

/** Our own variables in addition to Mantine's: the accent in both color schemes, and text that keeps 4.5:1. */
export function createVariables(branding: Branding): CSSVariablesResolver {
  const { primary, onPrimary, accent } = shownColors(branding);
  return () => ({
    variables: {
      '--on-primary': onPrimary,
      // Away from the text's color, so that its contrast only grows.
      '--primary-hover': `color-mix(in srgb, ${primary} 88%, ${isDark(onPrimary) ? '#ffffff' : '#000000'})`,
      '--mantine-primary-color-contrast': onPrimary,
      '--mantine-color-anchor': 'var(--accent)',
      '--mantine-font-weight-medium': '550',
    },
    light: {
      '--accent': accent.light,
      '--mantine-color-dimmed': '#5f6368',
      '--mantine-color-placeholder': '#6b7075',
      '--mantine-color-error': '#c4261d',
    },
    dark: {
      '--accent': accent.dark,
      '--mantine-color-dimmed': '#a1a5ab',
      '--mantine-color-placeholder': '#92969c',
      '--mantine-color-error': '#ff8f87',
      '--mantine-color-body': '#17181a',
    },
  });
}

/** Text on and in the brand color keeps its contrast in both schemes, which Mantine's own choice does not guarantee. */
const resolveVariant: VariantColorsResolver = (input) => {
  const colors = defaultVariantColorsResolver(input);
  if (input.color !== undefined && input.color !== 'brand') return colors;
  if (input.variant === 'filled') return { ...colors, color: 'var(--on-primary)', hover: 'var(--primary-hover)' };
  const isTinted =
    input.variant === 'light' ||
    input.variant === 'subtle' ||
    input.variant === 'outline' ||
    input.variant === 'transparent';
  return isTinted ? { ...colors, color: 'var(--accent)' } : colors;
};

function isDark(color: string): boolean {
  return contrast(color, '#ffffff') > contrast(color, '#000000');
}

function brandColors(branding: BrandColors) {
  const primary = hexColor.test(branding.primaryColor) ? branding.primaryColor : fallback.primary;
  const foreground = hexColor.test(branding.primaryForegroundColor)
    ? branding.primaryForegroundColor
    : fallback.foreground;
  return { primary, foreground };
}

const systemFont =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif, "Apple Color Emoji", "Segoe UI Emoji", "Noto Color Emoji"';
const monospaceFont = 'ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace';

const darkShades = [
  '#e6e7e9',
  '#c3c6ca',
  '#a1a5ab',
  '#777c83',
  '#3d4046',
  '#303338',
  '#232529',
  '#17181a',
  '#111214',
  '#0b0c0d',
] as const;
