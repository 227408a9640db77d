import type { DynamicToolPart } from '@homeport/contracts/chat/frames';
import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { takeFirstOpening } from '../../conversation/choices/preview-opening.ts';
import { useThreadActions } from '../../conversation/thread-actions.ts';
import { calledPath } from '../../conversation/workspace-paths.ts';
import { filesKey as artifactsKey } from '../../files/files-api.ts';
import { previewKind } from '../../files/preview/file-kind.ts';
import { publishing } from '../tool-output.ts';
import { filesKey } from './workspace-files.ts';

const writing = new Set(['bash', 'write_file', 'edit_file', 'delegate']);
/** Panels lie beside the conversation from this width on; below it they would cover the answer. */
const isWide = '(min-width: 68.01rem)';

/**
 * Refreshes shown files when a call of a running answer ends, and opens the preview of a page that it wrote beside the
 * conversation, the first time.
 */
export function useWrittenFile(part: DynamicToolPart, isLive: boolean): void {
  const queries = useQueryClient();
  const router = useRouter();
  const { chatId } = useThreadActions();
  const hasEnded = isLive && part.state === 'output-available' && part.preliminary !== true;
  const { toolName, input } = part;
  useEffect(() => {
    if (!hasEnded) return;
    if (publishing.has(toolName)) void queries.invalidateQueries({ queryKey: artifactsKey({ chatId }) });
    if (!writing.has(toolName)) return;
    void queries.invalidateQueries({ queryKey: filesKey });
    const path = toolName === 'write_file' ? calledPath(input) : undefined;
    if (path === undefined || !isPage(path) || !window.matchMedia(isWide).matches) return;
    const { pathname, search } = router.state.location;
    // A panel that the person has opened stays.
    if (pathname !== `/c/${chatId}` || Object.keys(search).length > 0 || !takeFirstOpening(chatId, path)) return;
    void router.navigate({
      to: '/c/$chatId',
      params: { chatId },
      search: { panel: 'workspace', path },
      resetScroll: false,
    });
  }, [hasEnded]);
}

function isPage(path: string): boolean {
  return ['html', 'svg', 'react'].includes(previewKind({ mediaType: '', filename: path }));
}
