import { Menu, type MenuProps } from '@mantine/core';
import { type ReactNode, type Ref, useLayoutEffect } from 'react';
import type { MenuPlace } from './use-menu.ts';

type Props = MenuPlace & Pick<MenuProps, 'position' | 'width' | 'offset'> & { label: string; children: ReactNode };

/** A dropdown is never taller than the available space. */
export const intoView: MenuProps['middlewares'] = { flip: true, shift: true, size: { padding: 8 } };

/** An open menu at a button elsewhere on the page. Load it lazily: menus are a tenth of the client. */
export function AnchoredMenu({ button, onClose, label, children, ...props }: Props) {
  return (
    <Menu opened onClose={onClose} returnFocus={false} middlewares={intoView} {...props}>
      <Menu.Target>
        <Anchor element={button} />
      </Menu.Target>
      <Menu.Dropdown aria-label={label} aria-labelledby={undefined} style={{ overflowY: 'auto' }}>
        {children}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Virtual anchor for an element that React renders elsewhere; the menu is placed there and treats its clicks as inside. */
export function Anchor({ element, ref }: { element: HTMLElement; ref?: Ref<HTMLElement> }) {
  useLayoutEffect(() => {
    if (typeof ref !== 'function') return;
    ref(element);
    return () => void ref(null);
  }, [element, ref]);
  return null;
}
