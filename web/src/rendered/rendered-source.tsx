import { RenderedView } from './rendered-view.tsx';

type Props = {
  kind: 'html' | 'svg' | 'react';
  source: string;
  isTypeScript: boolean;
  name: string;
  onFix?: ((faults: readonly string[]) => void) | undefined;
};

/** A page, picture or component from a model, running in its frame. */
export function RenderedSource({ kind, source, ...props }: Props) {
  return (
    <RenderedView
      kind={kind === 'react' ? 'react' : 'html'}
      source={kind === 'svg' ? pageOfPicture(source) : source}
      {...props}
    />
  );
}

/** Wraps an SVG file into a page, without its XML declaration. */
function pageOfPicture(source: string): string {
  return `<!doctype html><style>body { margin: 0 } svg { max-width: 100%; height: auto }</style>${source.replace(/^\s*<\?xml[^>]*\?>/, '')}`;
}
