import { Download, Trash2 } from "lucide-react"
import { Menu, MenuItem, MenuLine } from "../../components/layers/menu.tsx"

const nothing = () => undefined

export function SampleMenu() {
  return (
    <Menu
      items={
        <>
          <MenuItem icon={Download} keys="e" onAction={nothing}>
            Export
          </MenuItem>
          <MenuLine />
          <MenuItem icon={Trash2} isDanger onAction={nothing}>
            Delete step 31
          </MenuItem>
        </>
      }
    >
      Actions
    </Menu>
  )
}
