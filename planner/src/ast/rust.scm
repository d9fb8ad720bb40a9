; What an outline of Rust shows. @body is left out of the signature.
(function_item body: (_) @body) @item
(function_signature_item) @item
(struct_item body: (field_declaration_list)? @body) @item
(enum_item body: (_) @body) @item
(union_item body: (_) @body) @item
(trait_item body: (_) @body) @item
(impl_item body: (_)? @body) @item
(mod_item body: (_)? @body) @item
(type_item) @item
(const_item) @item
(static_item) @item
(macro_definition (macro_rule) @body) @item
